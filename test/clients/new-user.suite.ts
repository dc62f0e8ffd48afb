/**
 * A new user gets a link with a token, follows the steps of the gateway's page for a browser, and
 * opens a page of the cluster. Pictures of the steps go to a temporary folder, which the suite
 * prints; those in `docs/pictures` come from there. Run by `npm run test:clients`.
 * @module
 */
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ElementHandle, Page } from 'puppeteer-core'
import { afterAll, beforeAll, test } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { BROWSERS, type BrowserName, type OpenBrowser, openBrowser } from './browsers.ts'
import { browserMissing, inOwnEtc, NAME, NEEDS_ROOT, PUBLIC, startShipped } from './own-machine.ts'
import { click, shows, until } from './page-steps.ts'
import { TlsGateways } from './tls-gateway.ts'

/** The file that the page offers for a browser, and where its steps place it. */
const POLICIES = {
  chrome: ['chromium-policies.json', 'chromium/policies/managed/kubedoh.json'],
  firefox: ['firefox-policies.json', 'firefox/policies/policies.json'],
} as const
const SIZE = { width: 1000, height: 640 }
const HELLO = 'hello from the page'
/** True when Chromium's page of policies, which is made of shadow trees, lists ours. */
const LISTS_POLICIES = `(function lists(root) {
  return [...root.querySelectorAll('*')].some(({ shadowRoot, textContent }) =>
    textContent === 'DnsOverHttpsMode' || (shadowRoot !== null && lists(shadowRoot)))
})(document)`

const pictures = mkdtempSync(join(tmpdir(), 'kubedoh-steps-'))
const gateways = new TlsGateways()
let link = ''

beforeAll(async () => {
  if (NEEDS_ROOT !== undefined) return
  await gateways.startPage()
  const origin = await startShipped(gateways)
  const token = await gateways.makeToken(Number(new URL(origin).port), { name: 'new user' })
  link = `${origin}/t/${token}/`
})

afterAll(async () => {
  await gateways.stop()
  console.log(`pictures of the steps: ${pictures}`)
})

for (const [name, program] of Object.entries(BROWSERS) as [BrowserName, string][]) {
  describeUnless(NEEDS_ROOT ?? browserMissing(program), `a new user of ${program}`, () => {
    let open: OpenBrowser | undefined
    afterAll(() => open?.close())

    async function start(wrapper?: string): Promise<Page> {
      const program = wrapper === undefined ? {} : { program: wrapper }
      open = await openBrowser(name, { ...SIZE, ...program, prepare: (home) => trust(name, home) })
      return open.page
    }

    async function picture(step: string, of: Page | ElementHandle): Promise<void> {
      await of.screenshot({ path: `${join(pictures, `${name}-${step}`)}.webp`, type: 'webp' })
    }

    test('gets from a link to the page of a Service', async ({ annotate }) => {
      const startMs = performance.now()
      const page = await start()
      await page.goto(link)
      await until(page, shows('shop'))
      await click(page, 'Browsers')
      const [file, path] = POLICIES[name]
      await picture('link', page)
      await picture('steps', (await page.$('.setup')) ?? page)
      const policies = await download(page, file)
      await open?.close()
      const wrapper = gateways.file(`${name}.sh`)
      const command = inOwnEtc(gateways.file(name), { [path]: policies }, [program])
      writeFileSync(wrapper, `#!/bin/sh\nexec unshare ${command.map(quote).join(' ')} "$@"\n`)
      chmodSync(wrapper, 0o755)
      const restarted = await start(wrapper)
      for (const host of [PUBLIC, NAME]) await openPage(restarted, host)
      await picture('page', (await restarted.$('body')) ?? restarted)
      if (name === 'chrome') {
        await restarted.goto('chrome://policy')
        await until(restarted, LISTS_POLICIES)
        await picture('policies', restarted)
      }
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
      await annotate(`from the link to the page in ${program}: ${seconds} s`)
    })
  })
}

/** Makes a browser trust the gateway, as a certificate of a public authority would. */
async function trust(name: BrowserName, home: string): Promise<void> {
  const database = name === 'chrome' ? join(home, '.pki/nssdb') : home
  mkdirSync(database, { recursive: true })
  await gateways.trust(database)
}

/** Clicks a button that saves a file. @returns its text */
async function download(page: Page, file: string): Promise<string> {
  await page.evaluate(`{
    const { createObjectURL } = URL
    URL.createObjectURL = (blob) => {
      blob.text().then((text) => { window.saved = text })
      return createObjectURL(blob)
    }
  }`)
  await click(page, `Download ${file}`)
  await until(page, 'window.saved')
  return String(await page.evaluate('window.saved'))
}

/** Opens a page by its host, again until the browser has found out that the gateway answers. */
async function openPage(page: Page, host: string): Promise<void> {
  const url = `http://${host}:${gateways.pagePort}/`
  for (let left = 40; ; left--) {
    const failure = await page.goto(url).then(
      () => undefined,
      (error: unknown) => error,
    )
    if (failure === undefined) break
    if (left === 0) throw failure
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  await until(page, shows(HELLO))
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
