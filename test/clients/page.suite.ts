/**
 * The gateway's page in Chromium and Firefox, with axe. Pictures go to a temporary folder, which
 * the suite prints. Run by `npm run test:clients`.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { afterAll, beforeAll, test } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import {
  BROWSERS,
  type BrowserName,
  type BrowserOptions,
  LOOKS,
  type OpenBrowser,
  openBrowser,
} from './browsers.ts'
import { type PageGateway, startPageGateway } from './page-gateway.ts'
import { checkAccessible, click, paste, shows, until } from './page-steps.ts'
import { findMissing } from './programs.ts'

const SHOP = readFileSync(join(import.meta.dirname, '../../demo/shop.yaml'), 'utf8')
/** Services of the namespace `many`: more than a page of the browser of names. */
const MANY = 250
/** Loads whose first paint is measured, after the browser's first one. */
const PAINTS = 5

const many = Array.from({ length: MANY }, (_, i) => {
  const name = `service-${String(i).padStart(3, '0')}`
  const spec = { clusterIP: `10.96.7.${i}`, ports: [{ name: 'http', port: 80, protocol: 'TCP' }] }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'many' },
    spec,
  })
})
const objects = [
  SHOP.trimEnd(),
  '{ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "many" } }',
  ...many,
].join('\n---\n')

const pictures = mkdtempSync(join(tmpdir(), 'kubedoh-pictures-'))
let gateway: PageGateway
let whole = { id: '', token: '' }

beforeAll(async () => {
  gateway = await startPageGateway(objects)
  whole = await gateway.token({ name: 'whole', explain: true })
})

afterAll(async () => {
  await gateway?.close()
  console.log(`pictures of the page: ${pictures}`)
})

for (const [name, program] of Object.entries(BROWSERS) as [BrowserName, string][]) {
  describeUnless(findMissing(program), `the page in ${program}`, () => {
    const problems: string[] = []
    let open: OpenBrowser | undefined

    /** Opens a page, and keeps what the browser reports as an error. */
    async function visit(path: string, options: BrowserOptions = {}): Promise<Page> {
      await open?.close()
      open = await openBrowser(name, options)
      const { page } = open
      page.on('pageerror', (error) => problems.push(String(error)))
      page.on('console', (message) => {
        if (/Content.Security.Policy|TrustedHTML/i.test(message.text())) {
          problems.push(message.text())
        }
      })
      await page.goto(`${gateway.origin}${path}`)
      return page
    }

    async function picture(page: Page, state: string): Promise<void> {
      await page.screenshot({ path: `${join(pictures, `${name}-${state}`)}.png` })
    }

    afterAll(async () => {
      await open?.close()
      assert.deepEqual(problems, [])
    })

    for (const { isDark, width } of LOOKS[name]) {
      test(`is accessible: ${isDark ? 'dark' : 'light'}, ${width} wide`, async () => {
        const state = `${isDark ? 'dark' : 'light'}-${width}`
        const page = await visit('/', { isDark, width, height: width === 375 ? 2400 : 1500 })
        await until(page, shows('You need a token'))
        await checkAccessible(page, `${state} without a token`)
        await picture(page, `${state}-no-token`)
        await paste(page, '#token', whole.token)
        await click(page, 'Use token')
        await until(page, shows('payments'))
        await paste(page, '#name', '_sql._tcp.postgres.data.svc.demo.test')
        await page.select('#type', 'SRV')
        await until(page, shows('3 endpoints.'))
        await click(page, 'Why this answer')
        await until(page, shows('postgres'))
        await checkAccessible(page, `${state} with records`)
        await picture(page, `${state}-records`)
        await click(page, 'dig')
        await paste(page, '#name', 'nope.shop.svc.demo.test')
        await until(page, shows('No such name.'))
        await until(page, shows('status: NXDOMAIN'))
        await checkAccessible(page, `${state} without records`)
        await picture(page, `${state}-nxdomain`)
      })
    }

    test('goes from a namespace to an endpoint, in pages and by search', async () => {
      const page = await visit(`/t/${whole.token}/`)
      await click(page, 'many')
      await until(page, shows('100 names so far'))
      await click(page, 'Show more')
      await until(page, shows('200 names so far'))
      await click(page, 'Show more')
      await until(page, shows(`${MANY} names`))
      await paste(page, '#search', 'service-24')
      await until(page, shows('10 names'))
      await click(page, 'demo.test')
      await click(page, 'svc')
      await click(page, 'data')
      await click(page, 'postgres')
      await until(page, shows('3 addresses.'))
      await click(page, 'postgres-0')
      await until(page, shows('1 address.'))
    })

    test('drops a page of names that comes after the visitor has gone elsewhere', async () => {
      const page = await visit(`/t/${whole.token}/`)
      await click(page, 'many')
      await until(page, shows('100 names so far'))
      await page.evaluate(`{
        const { fetch: send } = window
        const gone = new Promise((resolve) => { window.release = resolve })
        window.fetch = async (path, init) => {
          const response = await send(path, init)
          if (!path.includes('after=')) return response
          window.hasArrived = true
          await gone
          setTimeout(() => { window.isLate = true }, 100)
          return response
        }
      }`)
      await click(page, 'Show more')
      // A request without a response would be aborted, and nothing would come late.
      await until(page, 'window.hasArrived')
      await click(page, 'demo.test')
      await click(page, 'svc')
      await until(page, shows('payments'))
      await page.evaluate('release()')
      await until(page, 'window.isLate')
      assert.equal(await page.evaluate(shows('service-000')), false)
    })

    test('shows nothing that the token may not see', async () => {
      const { token } = await gateway.token({ name: 'shop', namespaces: ['shop'] })
      const page = await visit(`/t/${token}/`)
      await click(page, 'shop')
      await until(page, shows('cart'))
      await paste(page, '#search', 'a')
      await paste(page, '#name', 'postgres.data.svc.demo.test')
      await until(page, shows('No such name.'))
      await click(page, 'Why this answer')
      await until(page, shows('may not explain answers'))
      await click(page, 'demo.test')
      await click(page, 'svc')
      await until(page, shows('1 namespace'))
      assert.equal(await page.evaluate(shows('payments')), false)
    })

    test('sends the token in headers only, and nothing elsewhere', async () => {
      const urls: string[] = []
      const referrers: string[] = []
      const page = await visit('/')
      page.on('request', (request) => {
        urls.push(request.url())
        referrers.push(request.headers().referer ?? '')
      })
      await page.goto(`${gateway.origin}/t/${whole.token}/`)
      await until(page, shows('payments'))
      await paste(page, '#name', 'web.shop.svc.demo.test')
      await until(page, shows('1 address.'))
      const own = urls.filter((url) => !url.startsWith('data:'))
      assert.equal(own.filter((url) => url.includes(whole.token)).length, 1, 'the link itself')
      for (const url of own) assert.equal(new URL(url).origin, gateway.origin)
      assert.equal(page.url(), `${gateway.origin}/`)
      assert.deepEqual([...new Set(referrers)], [''])
      assert.ok(!gateway.log().includes(whole.token))
      await page.reload()
      await until(page, shows('payments'))
    })

    test('explains answers of an open gateway while it has a token', async ({ onTestFinished }) => {
      const open = await startPageGateway(SHOP, { PUBLIC: 'true' })
      onTestFinished(() => open.close())
      const { token } = await open.token({ name: 'seer', explain: true })
      const page = await visit('/')
      await page.goto(`${open.origin}/`)
      await paste(page, '#name', 'web.shop.svc.demo.test')
      await until(page, shows('1 address.'))
      await click(page, 'Why this answer')
      await until(page, shows('enter a token that its operator created'))
      await paste(page, '#token', token)
      await click(page, 'Use token')
      await until(page, shows('payments'))
      await click(page, 'Why this answer')
      await until(page, shows('Service shop/web'))
      await click(page, 'Forget token')
      await until(page, `!${shows('payments')}`)
      assert.equal(await page.evaluate(shows('Service shop/web')), false)
    })

    test('has no steps that need a token for a visitor with a login only', async () => {
      const page = await visit('/')
      // As Cloudflare Access does, this adds the credential to requests of the page.
      await page.evaluateOnNewDocument(`{
        const { fetch: send } = window
        window.fetch = (path, init) =>
          send(path, { ...init, headers: { ...init.headers, authorization: 'Bearer ${whole.token}' } })
      }`)
      await page.goto(`${gateway.origin}/`)
      await until(page, shows('Signed in'))
      await until(page, shows('Ask the operator of this gateway for a link with a token.'))
      assert.equal(await page.evaluate(shows('kubedoh connect')), false)
    })

    test('takes any text, and shows hostile records as text', async () => {
      const page = await visit(`/t/${whole.token}/`)
      await until(page, shows('payments'))
      for (const text of ['a..b', '\u202eevil', 'größe.test', '<b>x</b>..', 'x'.repeat(2000)]) {
        await paste(page, '#name', text)
        await until(page, shows('Not a domain name.'))
      }
      await page.select('#type', 'TXT')
      await paste(page, '#name', '<script>alert\\(1\\)</script>.evil.test')
      await until(page, shows('1 record.'))
      assert.equal(await page.evaluate('document.title'), 'kubedoh')
      assert.equal(
        await page.evaluate("document.querySelectorAll('#app img, #app script').length"),
        0,
      )
      assert.equal(await page.evaluate(shows('<img src=x onerror=document.title=1>')), true)
      assert.equal(await page.evaluate(shows('\u202e')), false)
      await checkAccessible(page, 'hostile records')
    })

    test('works by keyboard alone', async () => {
      const page = await visit(`/t/${whole.token}/`)
      await until(page, shows('payments'))
      const focused = (): Promise<unknown> =>
        page.evaluate('document.activeElement.id || document.activeElement.innerText')
      for (let i = 0; i < 10 && (await focused()) !== 'name'; i++) await page.keyboard.press('Tab')
      await page.keyboard.type('web.shop.svc.demo.test')
      await page.keyboard.press('Enter')
      await until(page, shows('1 address.'))
      const tabTo = async (text: string): Promise<void> => {
        for (let i = 0; i < 30 && (await focused()) !== text; i++) await page.keyboard.press('Tab')
        await page.keyboard.press('Enter')
      }
      await tabTo('Why this answer?')
      await until(page, 'document.activeElement.ariaLabel === "Why this answer"')
      await tabTo('shop')
      await until(page, shows('cart'))
    })

    test('queries only what was typed last within a frame', async () => {
      const page = await visit(`/t/${whole.token}/`)
      await until(page, shows('payments'))
      await page.evaluate(`(async () => {
        const { fetch } = window
        window.queries = 0
        window.fetch = (...request) => {
          if (String(request[0]).includes('dns-query')) window.queries++
          return fetch(...request)
        }
        const field = document.querySelector('#name')
        for (const name of ['nope.shop.svc.demo.test', 'web.shop.svc.demo.test']) {
          field.value = name
          field.dispatchEvent(new Event('input', { bubbles: true }))
          for (let i = 0; i < 10; i++) await undefined
        }
      })()`)
      await until(page, shows('1 address.'))
      assert.equal(await page.evaluate('window.queries'), 1)
    })

    test('reports a revoked token, and accepts another one', async () => {
      const short = await gateway.token({ name: 'short' })
      const page = await visit(`/t/${short.token}/`)
      await until(page, shows('payments'))
      await gateway.revoke(short.id)
      await until(page, shows('This token is not valid'))
      assert.equal(await page.evaluate(shows('payments')), false)
      await paste(page, '#token', `${gateway.origin}/t/${whole.token}/`)
      await click(page, 'Use token')
      await until(page, shows('payments'))
    })

    test('reports a gateway that is unavailable, and continues when it is back', async () => {
      const page = await visit(`/t/${whole.token}/`)
      await until(page, shows('payments'))
      await gateway.stopGateway()
      await until(page, shows('The gateway does not respond.'))
      await checkAccessible(page, 'gateway away')
      await picture(page, 'away')
      await click(page, 'shop')
      await until(page, shows('Try again'))
      await gateway.startGateway()
      await until(page, `!${shows('What is shown below')}`)
      await click(page, 'Try again')
      await until(page, shows('cart'))
      assert.equal(await page.evaluate(shows('The gateway does not respond.')), false)
    })

    test('reports when it first paints', async ({ annotate }) => {
      const page = await visit(`/t/${whole.token}/`)
      const all: number[] = []
      for (let i = 0; i < PAINTS; i++) {
        await page.goto(`${gateway.origin}/t/${whole.token}/`)
        await until(page, shows('payments'))
        const paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
        all.push(Math.round(Number(await page.evaluate(paint))))
      }
      const [best, , median] = all.sort((a, b) => a - b)
      await annotate(
        `first paint in ${program}: ${median} ms, at best ${best} ms (${PAINTS} loads)`,
      )
    })
  })
}
