/** The page of a gateway where people log in: its places, and whom it may ask. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { GatewayVariables } from '../../../src/gateway/config/config.ts'
import { generateKeyPair } from '../../../src/snapshot/format/signature.ts'
import { FakeIssuer } from '../fake-issuer.ts'
import { Running } from '../running.ts'

const { privateKey: EXCHANGE_KEY } = await generateKeyPair()
const URL_OF = 'https://sso.example.test/realms/acme'
const DISCOVERY = '/.well-known/openid-configuration'
const ENDPOINTS = {
  authorization_endpoint: `${URL_OF}/auth`,
  token_endpoint: 'https://tokens.example.test/token',
}
const LOGIN = { issuer: URL_OF, clientId: 'kubedoh', scopes: 'openid' }
const FOUND = {
  authorize: ENDPOINTS.authorization_endpoint,
  token: ENDPOINTS.token_endpoint,
  namesItself: false,
}

function issuersOf(urls: readonly string[]): string {
  const rules = [{ when: { sub: '*' }, namespaces: ['shop'] }]
  const client = { id: 'kubedoh' }
  return JSON.stringify(urls.map((issuer) => ({ issuer, audiences: ['kubedoh'], client, rules })))
}

/** Starts a gateway that trusts one issuer, which says this of itself. */
async function open(
  says: object,
  variables: Partial<GatewayVariables> = {},
): Promise<{ running: Running; issuer: FakeIssuer }> {
  const issuer = new FakeIssuer(URL_OF)
  issuer.instead.set(DISCOVERY, async () => Response.json({ issuer: URL_OF, ...says }))
  const ISSUERS = issuersOf([URL_OF])
  const running = await Running.start({ ISSUERS, EXCHANGE_KEY, ...variables })
  running.fetchPage = issuer.fetch
  return { running, issuer }
}

/** Returns what the page has of logins, as a browser reads it, and whom it may ask. */
async function read(running: Running): Promise<{ logins: unknown; connect: string }> {
  const response = await running.get('/')
  assert.equal(response.status, 200)
  const [, attribute] = /<html [^>]*data-logins="([^"]*)"/.exec(await response.text()) ?? []
  const policy = response.headers.get('content-security-policy') ?? ''
  const names: Readonly<Record<string, string>> = { quot: '"', lt: '<', gt: '>', amp: '&' }
  const text = attribute?.replace(/&(\w+);/g, (_, name) => names[name] ?? '')
  const [, connect = ''] = /connect-src ([^;]*);/.exec(policy) ?? []
  return { logins: text === undefined ? undefined : JSON.parse(text), connect }
}

test('a page has the endpoints of its issuers, and may ask for tokens there only', async () => {
  const { running, issuer } = await open(ENDPOINTS)
  const expected = {
    logins: [{ ...LOGIN, endpoints: FOUND }],
    connect: "'self' https://tokens.example.test/token",
  }
  assert.deepEqual([await read(running), await read(running)], [expected, expected])
  assert.deepEqual(issuer.asked, [`${URL_OF}${DISCOVERY}`])
})

test('a page without logins is the one that it was', async () => {
  const plain = await Running.start({})
  const others = [
    await open(ENDPOINTS, { EXCHANGE_KEY: '' }),
    await open(ENDPOINTS, {
      ISSUERS: issuersOf([URL_OF]).replace('"client":{"id":"kubedoh"},', ''),
    }),
  ]
  const expected = await plain.get('/')
  const text = await expected.text()
  for (const { running, issuer } of others) {
    const response = await running.get('/')
    assert.deepEqual([...response.headers], [...expected.headers])
    assert.equal(await response.text(), text)
    assert.deepEqual(issuer.asked, [])
  }
  assert.deepEqual(await read(plain), { logins: undefined, connect: "'self'" })
})

test('endpoints are read again each hour, and kept while the issuer is away', async () => {
  const { running, issuer } = await open(ENDPOINTS)
  await read(running)
  issuer.instead.set(DISCOVERY, async () => new Response(null, { status: 503 }))
  await running.host.advance(3_600_001)
  await read(running)
  assert.equal(issuer.asked.length, 2)
  assert.deepEqual((await read(running)).logins, [{ ...LOGIN, endpoints: FOUND }])
  const token_endpoint = 'https://next.example.test/'
  issuer.instead.set(DISCOVERY, async () =>
    Response.json({ ...ENDPOINTS, issuer: URL_OF, token_endpoint }),
  )
  await running.host.advance(60_000)
  await read(running)
  assert.match((await read(running)).connect, /next\.example\.test\/$/)
})

describe('what an issuer says changes nothing else on the page', () => {
  const token = (url: unknown): object => ({ ...ENDPOINTS, token_endpoint: url })
  const taken: [name: string, says: object, connect: string][] = [
    ['a semicolon', token('https://t.test/a;b,c'), "'self' https://t.test/a%3Bb%2Cc"],
    ['a query', token('https://t.test/a?b=c'), "'self' https://t.test/a"],
    ['white space', token('https://t.test/a b\n'), "'self' https://t.test/a%20b"],
    ['a quote', token(`https://t.test/?"><script>'`), "'self' https://t.test/"],
  ]
  for (const [name, says, connect] of taken) {
    test(name, async () => {
      const found = await read((await open(says)).running)
      assert.equal(found.connect, connect)
      assert.equal(Object(found.logins)[0].endpoints.token, Object(says).token_endpoint)
    })
  }

  const refused: [name: string, says: object][] = [
    ['no endpoints', {}],
    ['those of another issuer', { ...ENDPOINTS, issuer: 'https://other.example.test' }],
    ['a script', { ...ENDPOINTS, authorization_endpoint: 'javascript:alert(1)//' }],
    ['a page without TLS', { ...ENDPOINTS, authorization_endpoint: 'http://sso.example.test/' }],
    ['every host', token('https://*/token')],
    ['a password', token('https://a:b@t.test/token')],
    ['a fragment', token('https://t.test/token#x')],
    ['a list', token(['https://t.test/token'])],
    ['a long URL', token(`https://t.test/${'x'.repeat(2048)}`)],
  ]
  for (const [name, says] of refused) {
    test(`${name}: nobody signs in there`, async () => {
      const { running } = await open(says)
      assert.deepEqual(await read(running), { logins: [LOGIN], connect: "'self'" })
      const [entry] = running.host.events.filter(({ message }) => /log in/.test(message))
      assert.equal(entry?.issuer, URL_OF)
    })
  }
})
