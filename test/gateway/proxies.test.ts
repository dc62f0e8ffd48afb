/**
 * A gateway behind proxies: both of its paths go by the client that a trusted proxy names.
 * @module
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readGatewayConfig } from '../../src/gateway/config/config.ts'
import { BothPaths, get, hostToken, type Sent, WEB_QUESTION } from './both-paths.ts'

const COREFILE =
  '. {\n  acl {\n    block net 203.0.113.0/24\n  }\n  template IN A {\n    answer "{{ .Name }} 60 IN A 192.0.2.9"\n  }\n}\n'
const FROM = { 'x-forwarded-for': '203.0.113.5' }
// The peer of `BothPaths` is 192.0.2.1.
const TRUSTED = { TRUSTED_PROXIES: '192.0.2.0/24' }
const RCODE_AT = 3

async function rcodes(variables: Record<string, string>, sent: Sent): Promise<readonly unknown[]> {
  const fixture = await BothPaths.start({ COREFILE, PUBLIC: 'true', ...variables })
  const byApp = await fixture.byApp(sent)
  const directly = await fixture.directly(sent)
  return [byApp, directly].map((got) => (got?.body[RCODE_AT] ?? 0) & 0x0f)
}

describe('acl goes by', () => {
  const sent = get('www.example.org A', FROM)
  test('the client of a trusted proxy', async () => {
    assert.deepEqual(await rcodes(TRUSTED, sent), [5, 5])
  })
  test('the peer, of any other', async () => {
    assert.deepEqual(await rcodes({ TRUSTED_PROXIES: '192.0.2.2' }, sent), [0, 0])
  })
  test('the peer, without the variable', async () => {
    assert.deepEqual(await rcodes({}, sent), [0, 0])
  })
})

test('rate limits count the clients of a proxy', async () => {
  const allowed: string[] = []
  const limiter = { allow: (key: string): boolean => allowed.push(key) > 0 }
  const fixture = await BothPaths.start({ COREFILE, PUBLIC: 'true', ...TRUSTED }, limiter)
  const sent = get('www.example.org A', FROM)
  await fixture.byApp(sent)
  await fixture.directly(sent)
  assert.deepEqual(allowed, ['203.0.113.5', '203.0.113.5'])
})

describe('discovery has the URL of', () => {
  const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'dns.example.org:8443' }
  const sent = get('_dns.resolver.arpa SVCB', headers)
  const names = async (variables: Record<string, string>): Promise<readonly unknown[]> => {
    const fixture = await BothPaths.start({ COREFILE, PUBLIC: 'true', ...variables })
    const all = [await fixture.byApp(sent), await fixture.directly(sent)]
    return all.map((got) => Buffer.from(got?.body ?? []).includes('example'))
  }
  test('a trusted proxy', async () => assert.deepEqual(await names(TRUSTED), [true, true]))
  test('no other', async () => {
    assert.deepEqual(await names({ TRUSTED_PROXIES: '192.0.2.2' }), [false, false])
  })
})

describe('the kit has the URL of', () => {
  const headers = { 'x-forwarded-host': 'dns.example.org' }
  const kit = async (variables: Record<string, string>): Promise<string> => {
    const fixture = await BothPaths.start(variables)
    const { body } = await fixture.byApp({ ...get(WEB_QUESTION, headers), path: '/kit/node.mjs' })
    return Buffer.from(body).toString()
  }
  test('a trusted proxy', async () =>
    assert.match(await kit(TRUSTED), /'https:\/\/dns\.example\.org'/))
  test('no other', async () => assert.match(await kit({}), /'https:\/\/dns\.test'/))
})

describe('a token in the hostname', () => {
  const TOKEN_DOMAIN = 'doh.example.org'
  const HOST = `${hostToken}.${TOKEN_DOMAIN}`
  const PROXY = 'front.example.net'
  const cases: {
    readonly name: string
    readonly proxies: string
    readonly headers: Record<string, string>
    readonly serverName: string
    readonly status: number
  }[] = [
    {
      name: 'counts as a trusted proxy names it, whatever its own handshake named',
      proxies: '192.0.2.1',
      headers: { host: PROXY, 'x-forwarded-host': HOST },
      serverName: PROXY,
      status: 200,
    },
    {
      name: 'counts where a trusted proxy keeps it, whatever its own handshake named',
      proxies: '192.0.2.1',
      headers: { host: HOST },
      serverName: PROXY,
      status: 200,
    },
    {
      name: 'does not count as any other names it',
      proxies: '192.0.2.2',
      headers: { host: PROXY, 'x-forwarded-host': HOST },
      serverName: PROXY,
      status: 401,
    },
    {
      name: 'is compared with the handshake of any other',
      proxies: '192.0.2.2',
      headers: { host: HOST },
      serverName: PROXY,
      status: 421,
    },
  ]
  for (const { name, proxies, headers, serverName, status } of cases) {
    test(name, async () => {
      const fixture = await BothPaths.start({ TOKEN_DOMAIN, TRUSTED_PROXIES: proxies })
      await fixture.byApp({ ...get(WEB_QUESTION), headers: { host: HOST } })
      fixture.serverName = serverName
      const { authorization: _, ...own } = get(WEB_QUESTION).headers
      const sent = { ...get(WEB_QUESTION), headers: { ...own, ...headers } }
      assert.equal((await fixture.byApp(sent)).status, status)
      // What is not admitted at once is left to the app.
      const directly = await fixture.directly(sent)
      assert.equal(directly?.status, status === 200 ? 200 : undefined)
    })
  }
})

describe('variables', () => {
  const wrong: readonly [Record<string, string>, RegExp][] = [
    [{ TRUSTED_PROXIES: 'all' }, /^TRUSTED_PROXIES has "all", expected a network/],
    [{ PROXY_PROTOCOL: 'yes', ...TRUSTED }, /^PROXY_PROTOCOL is neither/],
    [{ PROXY_PROTOCOL: 'true' }, /^PROXY_PROTOCOL is "true" without TRUSTED_PROXIES/],
  ]
  for (const [variables, message] of wrong) {
    test(`refuse ${JSON.stringify(variables)}`, async () => {
      await assert.rejects(readGatewayConfig({ COREFILE, ...variables }), { message })
    })
  }
})
