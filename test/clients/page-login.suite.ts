/**
 * Logins on the gateway's page, in Chromium and Firefox, at a real OpenID provider. Pictures go to
 * a temporary folder, which the suite prints. Run by `npm run test:clients`.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'puppeteer-core'
import { afterAll, beforeAll, test } from 'vitest'
import { generateKeyPair } from '../../src/snapshot/format/signature.ts'
import { openIssuer } from '../cli/login/local-issuer.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import {
  BROWSERS,
  type BrowserName,
  type BrowserOptions,
  LOOKS,
  type OpenBrowser,
  openBrowser,
} from './browsers.ts'
import { type PageGateway, startPageGateway } from './page-gateway.ts'
import { checkAccessible, click, shows, until } from './page-steps.ts'
import { findMissing, shell } from './programs.ts'

const SHOP = readFileSync(join(import.meta.dirname, '../../demo/shop.yaml'), 'utf8')
/** What an issuer may call a person: markup, and a mark that turns text around. */
const HOSTILE = '<img src=x onerror=document.title=1>\u202e'

const pictures = mkdtempSync(join(tmpdir(), 'kubedoh-pictures-'))
let gateway: PageGateway
/** Without CORS: its client is that of programs only. */
let closed: { readonly url: string; readonly close: () => void }
let issuerPort = 0
let issuer: { readonly url: string; readonly close: () => void }

function redirectUri(origin: string, issuerUrl: string): string {
  return `${origin}/?from=${encodeURIComponent(new URL(issuerUrl).host)}`
}

function clientOf(url: string, origin: string): object {
  return {
    client_id: 'kubedoh',
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code'],
    response_types: ['code'],
    redirect_uris: [redirectUri(origin, url)],
    id_token_signed_response_alg: 'ES256',
  }
}

/** Starts an issuer that knows everybody by the name with which they log in. */
function open(port: number, origin: string, mayRead = true): ReturnType<typeof openIssuer> {
  return openIssuer(port, {
    clients: [clientOf(`http://127.0.0.1:${port}`, origin)],
    clientBasedCORS: () => mayRead,
    claims: { openid: ['sub', 'name'], groups: ['groups'] },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({
        sub: accountId,
        groups: [`team-${accountId}`],
        name: accountId === 'mallory' ? HOSTILE : `${accountId} of Acme`,
      }),
    }),
  })
}

beforeAll(async () => {
  const port = await freePort()
  const origin = `https://localhost:${port}`
  issuerPort = await freePort()
  issuer = await open(issuerPort, origin)
  closed = await open(await freePort(), origin, false)
  const { privateKey: EXCHANGE_KEY } = await generateKeyPair()
  const rules = ['ada', 'mallory'].map((name) => ({
    when: { groups: `team-${name}` },
    namespaces: ['shop'],
    expires: '12h',
  }))
  const client = { id: 'kubedoh', scopes: 'openid groups offline_access' }
  const ISSUERS = JSON.stringify(
    [issuer, closed].map(({ url }) => ({ issuer: url, audiences: ['kubedoh'], client, rules })),
  )
  gateway = await startPageGateway(SHOP, { ISSUERS, EXCHANGE_KEY }, port)
})

afterAll(async () => {
  await gateway?.close()
  issuer?.close()
  closed?.close()
  console.log(`pictures of logins: ${pictures}`)
})

/** Goes through the pages of the issuer, from the page of the gateway and back to it. */
async function signIn(page: Page, name: string, { url }: { url: string } = issuer): Promise<void> {
  await click(page, `Sign in with ${new URL(url).host}`)
  await page.waitForSelector('input[name=login]')
  await page.type('input[name=login]', name)
  await page.type('input[name=password]', 'any')
  await Promise.all([page.waitForNavigation(), page.click('button[type=submit]')])
  await Promise.all([page.waitForNavigation(), page.click('button[type=submit]')])
}

/** Returns all that the tab keeps. */
async function kept(page: Page): Promise<Readonly<Record<string, string>>> {
  return JSON.parse(String(await page.evaluate('JSON.stringify({ ...sessionStorage })')))
}

for (const [name, program] of Object.entries(BROWSERS) as [BrowserName, string][]) {
  describeUnless(findMissing(program), `logins on the page in ${program}`, () => {
    const problems: string[] = []
    let opened: OpenBrowser | undefined

    async function visit(options: BrowserOptions = {}): Promise<Page> {
      await opened?.close()
      opened = await openBrowser(name, options)
      const { page } = opened
      page.on('pageerror', (error) => {
        // Firefox reports responses that CORS hides as errors of the page.
        const isOwn =
          page.url().startsWith(gateway.origin) && !/^Error: Cross-Origin/.test(`${error}`)
        if (isOwn) problems.push(String(error))
      })
      page.on('console', (message) => {
        const isPolicy = /Content.Security.Policy|TrustedHTML/i.test(message.text())
        // The issuer's own pages violate the issuer's own policy.
        if (isPolicy && page.url().startsWith(gateway.origin)) problems.push(message.text())
      })
      await page.goto(`${gateway.origin}/`)
      return page
    }

    async function picture(page: Page, state: string): Promise<void> {
      await page.screenshot({ path: `${join(pictures, `${name}-${state}`)}.png` })
    }

    afterAll(async () => {
      await opened?.close()
      assert.deepEqual(problems, [])
    })

    for (const { isDark, width } of LOOKS[name]) {
      test(`is accessible: ${isDark ? 'dark' : 'light'}, ${width} wide`, async () => {
        const state = `${isDark ? 'dark' : 'light'}-${width}`
        const page = await visit({ isDark, width, height: width === 375 ? 2400 : 1500 })
        await until(page, shows('With a token'))
        await checkAccessible(page, `${state} before a login`)
        await picture(page, `${state}-before`)
        await signIn(page, 'ada')
        await until(page, shows(width === 375 ? 'ada of Acme' : 'ada of Acme, until'))
        await until(page, shows('It counts until'))
        await checkAccessible(page, `${state} after a login`)
        await picture(page, `${state}-after`)
        await click(page, 'Sign out')
        await signIn(await visit({ isDark, width, height: 1500 }), 'eve')
        const { page: other } = opened ?? { page }
        await until(other, shows('No rule of this gateway allows'))
        await checkAccessible(other, `${state} without a rule`)
        await picture(other, `${state}-no-rule`)
      })
    }

    test('gives a person her own names and steps, and forgets her', async () => {
      const page = await visit()
      const asked: string[] = []
      page.on('request', (request) => void asked.push(request.url()))
      await signIn(page, 'ada')
      await until(page, shows('ada of Acme, until'))
      assert.equal(page.url(), `${gateway.origin}/`)
      const { 'kubedoh-token': token = '', ...rest } = await kept(page)
      assert.deepEqual(Object.keys(rest), ['kubedoh-person'])
      assert.equal(asked.filter((url) => url.includes(token)).length, 0)
      assert.equal(asked.filter((url) => url === `${issuer.url}/token`).length, 1)
      await click(page, 'shop')
      await until(page, shows('cart'))
      assert.equal(await page.evaluate(shows('payments')), false)
      await click(page, 'Terminal')
      await until(page, shows(`from your login at ${new URL(issuer.url).host}`))
      assert.equal(await page.evaluate(shows(token)), false)
      const copied = await copy(page, 'Query with curl')
      assert.ok(copied.includes(token))
      const command = copied.replace('SERVICE.NAMESPACE', 'web.shop').replace('curl', 'curl -sk')
      assert.equal(JSON.parse(await shell(command)).Status, 0)
      const hidden = copied.replace('SERVICE.NAMESPACE', 'bank.payments')
      assert.equal(JSON.parse(await shell(hidden.replace('curl', 'curl -sk'))).Status, 3)
      await page.reload()
      await until(page, shows('ada of Acme, until'))
      await click(page, 'Sign out')
      await until(page, shows('With a token'))
      assert.deepEqual(await kept(page), {})
      await page.goBack().catch(() => undefined)
      assert.ok(!gateway.log().includes(token))
    })

    test('sends nothing for a redirect that belongs to no login of this tab', async () => {
      const page = await visit()
      const sent: string[] = []
      page.on('request', (one) => {
        if (one.method() === 'POST') sent.push(one.url())
      })
      const redirect = `${redirectUri(gateway.origin, issuer.url)}&code=stolen&state=guessed`
      await page.goto(redirect)
      await until(page, shows('This tab began no such login'))
      assert.equal(page.url(), `${gateway.origin}/`)
      await click(page, `Sign in with ${new URL(issuer.url).host}`)
      await page.waitForSelector('input[name=login]')
      await page.goto(redirect)
      await until(page, shows('This tab began no such login'))
      assert.deepEqual(sent, [])
      assert.deepEqual(await kept(page), {})
    })

    test('says that no rule fits, and shows any name as text', async () => {
      await signIn(await visit(), 'eve')
      const { page } = opened ?? { page: await visit() }
      await until(page, shows('No rule of this gateway allows eve of Acme'))
      const hostile = await visit()
      await signIn(hostile, 'mallory')
      await until(hostile, shows('<img src=x onerror=document.title=1>\\u{202e}, until'))
      assert.equal(await hostile.evaluate('document.title'), 'kubedoh')
      assert.equal(await hostile.evaluate("document.querySelectorAll('#app img').length"), 0)
    })

    test('names the way out when the issuer lets no page read its tokens', async () => {
      const page = await visit()
      await signIn(page, 'ada', closed)
      await until(page, shows('lets no page of'))
      await until(page, shows(`kubedoh login --gateway ${gateway.origin}`))
      await checkAccessible(page, 'an issuer without CORS')
      await picture(page, 'no-cors')
    })

    test('reports an issuer that is away, and one that declines', async () => {
      const page = await visit()
      const redirect = (await beginThere(page)).searchParams
      issuer.close()
      const back = new URL(redirect.get('redirect_uri') ?? '')
      back.searchParams.set('state', redirect.get('state') ?? '')
      back.searchParams.set('iss', issuer.url)
      try {
        back.searchParams.set('code', 'any')
        await page.goto(back.href)
        await until(page, shows('does not respond. Sign in again.'))
        await picture(page, 'away')
      } finally {
        issuer = await open(issuerPort, gateway.origin)
      }
      const again = (await beginThere(page)).searchParams
      back.searchParams.delete('code')
      back.searchParams.set('state', again.get('state') ?? '')
      back.searchParams.set('error', 'access_denied')
      await page.goto(back.href)
      await until(page, shows('refused the login: access_denied.'))
    })
  })
}

/** Begins a login, and returns the URL of the issuer to which the page goes. */
async function beginThere(page: Page): Promise<URL> {
  const begun = page.waitForRequest((one) => one.url().startsWith(`${issuer.url}/auth?`))
  await click(page, `Sign in with ${new URL(issuer.url).host}`)
  const url = new URL((await begun).url())
  await page.waitForSelector('input[name=login]')
  return url
}

/** Returns what a person copies below a title. */
async function copy(page: Page, title: string): Promise<string> {
  await page.evaluate(`{
    Object.defineProperty(navigator, 'clipboard', {
      configurable: true,
      value: { writeText: async (text) => { window.copied = text } },
    })
    const [step] = [...document.querySelectorAll('.recipes li')]
      .filter((one) => one.innerText.includes(${JSON.stringify(title)}))
    step.querySelector('.command button').click()
  }`)
  await until(page, 'window.copied')
  return String(await page.evaluate('window.copied'))
}
