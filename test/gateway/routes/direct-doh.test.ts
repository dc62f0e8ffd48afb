import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ASSERTION_HEADER } from '../../../src/gateway/access/access-assertions.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import type { GatewayVariables } from '../../../src/gateway/config/config.ts'
import { splitTokenPath } from '../../../src/gateway/routes/direct-doh.ts'
import { START_MS } from '../../fake-host.ts'
import { parseQuestion } from '../../message-text.ts'
import { AUDIENCE, ISSUER } from '../access-team.ts'
import {
  BothPaths,
  CERTIFICATE,
  type Got,
  get,
  MAIL,
  post,
  record,
  type Sent,
  team,
  token,
  WEB_QUESTION,
  WIRE,
} from '../both-paths.ts'

const TEAM = { ACCESS_TEAM: ISSUER, ACCESS_AUDIENCE: AUDIENCE }

function basic(userAndPassword: string): string {
  return `Basic ${btoa(userAndPassword)}`
}

const DESIGNATED = { host: 'dns.test', 'x-forwarded-proto': 'https' }
const message = parseQuestion(WEB_QUESTION).message
const PATH = get(WEB_QUESTION).path
describe('what is answered directly is answered as by the app:', () => {
  const cases: { name: string; sent: Sent }[] = [
    { name: 'a name', sent: get(WEB_QUESTION) },
    { name: 'with EDNS', sent: get(`${WEB_QUESTION} +edns`) },
    { name: 'with padding', sent: get(`${WEB_QUESTION} +edns +padding`) },
    { name: 'no data', sent: get('web.shop.svc.shop.test AAAA') },
    { name: 'no such name', sent: get('none.shop.svc.shop.test A') },
    { name: 'elsewhere', sent: get('www.example.org A') },
    { name: 'a resolver', sent: get('_dns.resolver.arpa SVCB') },
    { name: 'a resolver by name', sent: get('_dns.resolver.arpa SVCB', DESIGNATED) },
    { name: 'any type of answer', sent: get(WEB_QUESTION, { accept: '*/*' }) },
    { name: 'the right type of answer', sent: get(WEB_QUESTION, { accept: WIRE }) },
    { name: 'a POST', sent: post(message) },
    { name: 'a POST of nothing', sent: post(new Uint8Array(0)) },
    { name: 'a POST of a response', sent: post(message.with(2, 0x81)) },
    { name: 'a POST of an update', sent: post(message.with(2, 0x29)) },
    { name: 'a POST that is cut off', sent: post(message.slice(0, 15)) },
  ]
  for (const { name, sent } of cases) {
    test(name, async () => {
      const fixture = await BothPaths.start()
      await fixture.byApp(get(WEB_QUESTION))
      const expected = await fixture.byApp(sent)
      assert.deepEqual(await fixture.directly(sent), expected)
    })
  }

  test('with the token of CLIENT_TOKEN_SHA256, once the app has seen it', async () => {
    const fixture = await BothPaths.start({
      CLIENT_TOKEN_SHA256: await hashToken('of-all-clients'),
    })
    const sent = get(WEB_QUESTION, { authorization: 'Bearer of-all-clients' })
    assert.equal(await fixture.directly(sent), undefined)
    assert.equal(
      (await fixture.byApp({ ...sent, headers: { authorization: 'Bearer x' } })).status,
      401,
    )
    const expected = await fixture.byApp(sent)
    assert.deepEqual(await fixture.directly(sent), expected)
    const { authorization: _, ...headers } = sent.headers
    const byPath = { ...sent, headers, path: `/t/of-all-clients${sent.path}` }
    assert.deepEqual(await fixture.directly(byPath), await fixture.byApp(byPath))
    for (const authorization of ['Bearer x', `Bearer of-all-client`]) {
      assert.equal(await fixture.directly({ ...sent, headers: { authorization } }), undefined)
    }
  })

  const tokenPath = (sent: Sent): Sent => {
    const { authorization: _, ...headers } = sent.headers
    return { ...sent, headers, path: `/t/${token}${sent.path}` }
  }
  const carried: { name: string; sent: Sent }[] = [
    { name: 'as the password', sent: get(WEB_QUESTION, { authorization: basic(`x:${token}`) }) },
    { name: 'as the user', sent: get(WEB_QUESTION, { authorization: basic(`${token}:`) }) },
    { name: 'in lower case', sent: get(WEB_QUESTION, { authorization: `bearer ${token}` }) },
    { name: 'in the path', sent: tokenPath(get(WEB_QUESTION)) },
    {
      name: 'in the path, for the gateway itself',
      sent: tokenPath(get('_dns.resolver.arpa SVCB', DESIGNATED)),
    },
    { name: 'in the path of a POST', sent: tokenPath(post(message)) },
    {
      name: 'in the path, before a wrong one in a header',
      sent: { ...get(WEB_QUESTION, { authorization: 'Bearer x' }), path: `/t/${token}${PATH}` },
    },
    { name: 'of curl', sent: post(message, { accept: '*/*', authorization: basic(`x:${token}`) }) },
  ]
  for (const { name, sent } of carried) {
    test(`a token ${name}`, async () => {
      const fixture = await BothPaths.start()
      await fixture.byApp(get(WEB_QUESTION))
      const expected = await fixture.byApp(sent)
      assert.equal(expected.status, 200)
      assert.deepEqual(await fixture.directly(sent), expected)
    })
  }

  test('requests at the same time, each by its own response', async () => {
    const fixture = await BothPaths.start()
    await fixture.byApp(get(WEB_QUESTION))
    // Every second one waits for an upstream.
    const names = [WEB_QUESTION, 'www.example.org A', 'none.shop.svc.shop.test A +edns', 'x.test A']
    const sent = Array.from({ length: 80 }, (_, id) => get(`${names[id % 4]} +id=${id + 1}`))
    const alone: Got[] = []
    for (const one of sent) alone.push(await fixture.byApp(one))
    const directly = sent.map((one) => fixture.directly(one))
    const byApp = sent.map((one) => fixture.byApp(one))
    assert.deepEqual(await Promise.all(directly), alone)
    assert.deepEqual(await Promise.all(byApp), alone)
  })

  test('a response that is too large for curl', async () => {
    const fixture = await BothPaths.start()
    const sent = post(parseQuestion('large.example.org TXT').message, { accept: '*/*' })
    await fixture.byApp(get(WEB_QUESTION))
    const expected = await fixture.byApp(sent)
    assert.ok(expected.body.length < 3000)
    assert.deepEqual(await fixture.directly(sent), expected)
  })

  test('a token of an issuer, once the app has seen it', async () => {
    const rules = [{ when: { email: MAIL }, namespaces: ['*'] }]
    const issuer = { issuer: ISSUER, audiences: [AUDIENCE], keys: `${ISSUER}/keys`, rules }
    const fixture = await BothPaths.start({ ISSUERS: JSON.stringify([issuer]) })
    const jwt = await team.sign({ now: START_MS, email: MAIL })
    const sent = get(WEB_QUESTION, { authorization: `Bearer ${jwt}` })
    assert.equal(await fixture.directly(sent), undefined)
    const expected = await fixture.byApp(sent)
    assert.equal(expected.status, 200)
    assert.deepEqual(await fixture.directly(sent), expected)
  })

  test('a client certificate', async () => {
    const fixture = await BothPaths.start()
    fixture.identities = [CERTIFICATE]
    const sent = get(WEB_QUESTION, { authorization: '' })
    const expected = await fixture.byApp(sent)
    assert.equal(expected.status, 200)
    assert.deepEqual(await fixture.directly(sent), expected)
  })

  test('a login by Cloudflare Access, until it is a minute old', async () => {
    const fixture = await BothPaths.start(TEAM)
    const assertion = await team.sign({ now: START_MS, email: MAIL })
    const sent = get(WEB_QUESTION, { authorization: '', [ASSERTION_HEADER]: assertion })
    const expected = await fixture.byApp(sent)
    assert.equal(expected.status, 200)
    assert.deepEqual(await fixture.directly(sent), expected)
    for (let ms = 0; ms < 60_000; ms += 4000) {
      await fixture.host.advance(4000)
      await fixture.byApp(get(WEB_QUESTION))
    }
    assert.equal(await fixture.directly(sent), undefined)
  })

  const pages: { name: string; sent: Sent }[] = [
    { name: 'an allowed page', sent: get(WEB_QUESTION, { origin: 'https://a.test' }) },
    { name: 'another page', sent: get(WEB_QUESTION, { origin: 'https://b.test' }) },
    { name: 'no page', sent: get(WEB_QUESTION) },
    { name: 'a POST by a page', sent: post(message, { origin: 'https://a.test' }) },
    {
      name: 'a wrong POST by a page',
      sent: post(new Uint8Array(0), { origin: 'https://a.test' }),
    },
  ]
  for (const { name, sent } of pages) {
    test(`${name}, where pages may ask`, async () => {
      const fixture = await BothPaths.start({ CORS_ORIGINS: 'https://a.test' })
      await fixture.byApp(get(WEB_QUESTION))
      const expected = await fixture.byApp(sent)
      assert.deepEqual(await fixture.directly(sent), expected)
      assert.deepEqual(await fixture.directly(sent), expected)
    })
  }

  test('where everybody may ask', async () => {
    const fixture = await BothPaths.start({ PUBLIC: 'true' })
    const sent = { ...get(WEB_QUESTION), headers: {} }
    const expected = await fixture.byApp(sent)
    assert.equal(expected.headers['cache-control'], 'max-age=5, no-transform')
    assert.deepEqual(await fixture.directly(sent), expected)
  })
})

describe('where everybody may ask, shared caches keep', () => {
  const SHOP = 'kubernetes shop.test {\n    cluster shop\n  }'
  const cases: [what: string, COREFILE: string, control: string][] = [
    [
      'nothing with view',
      `.  {\n  view office {\n    expr incidr(client_ip(), '192.0.2.0/24')\n  }\n  ${SHOP}\n}\n. {\n  acl {\n    block\n  }\n}\n`,
      'private, ',
    ],
    [
      'nothing with acl',
      `. {\n  acl {\n    block net 198.51.100.0/24\n  }\n  ${SHOP}\n}\n`,
      'private, ',
    ],
    [
      'responses if acl is for all',
      `. {\n  ${SHOP}\n}\nno.test {\n  acl {\n    block\n  }\n}\n`,
      '',
    ],
    ['nothing with whoami elsewhere', `. {\n  ${SHOP}\n}\nme.test {\n  whoami\n}\n`, 'private, '],
    ['nothing with dns64', `. {\n  dns64\n  ${SHOP}\n}\n`, 'private, '],
    ['responses if dns64 is for all', `. {\n  dns64 {\n    allow_ipv4\n  }\n  ${SHOP}\n}\n`, ''],
    [
      'nothing with the address in a template',
      `. {\n  template IN A me.test {\n    answer "{{ .Name }} 60 IN A {{ .Remote }}"\n  }\n  ${SHOP}\n}\n`,
      'private, ',
    ],
    [
      'responses of other templates',
      `. {\n  template IN A me.test {\n    answer "{{ .Name }} 60 IN A 192.0.2.1"\n  }\n  ${SHOP}\n}\n`,
      '',
    ],
    [
      'nothing with the address for an upstream',
      `. {\n  rewrite edns0 local set 0xffee {client_ip}\n  ${SHOP}\n}\n`,
      'private, ',
    ],
    [
      'nothing with the network for an upstream',
      `. {\n  rewrite stop edns0 subnet set 24 56\n  ${SHOP}\n}\n`,
      'private, ',
    ],
    ['responses of other rewrites', `. {\n  rewrite name a.test b.test\n  ${SHOP}\n}\n`, ''],
  ]
  for (const [what, COREFILE, control] of cases) {
    test(what, async () => {
      const paths = await BothPaths.start({ PUBLIC: 'true', COREFILE })
      const sent = { ...get(WEB_QUESTION), headers: {} }
      const expected = await paths.byApp(sent)
      assert.equal(expected.headers['cache-control'], `${control}max-age=5, no-transform`)
      assert.deepEqual(await paths.directly(sent), expected)
    })
  }
})

describe('left to the app is', () => {
  const path = get(WEB_QUESTION).path
  const cases: { name: string; sent: Sent; variables?: GatewayVariables }[] = [
    { name: 'JSON', sent: get(WEB_QUESTION, { accept: 'application/dns-json' }) },
    { name: 'another path', sent: { ...get(WEB_QUESTION), path: '/resolve?name=a' } },
    { name: 'more than one parameter', sent: { ...get(WEB_QUESTION), path: `${path}&ct=` } },
    { name: 'padded base64', sent: { ...get(WEB_QUESTION), path: `${path}=` } },
    { name: 'a message too short', sent: { ...get(WEB_QUESTION), path: '/dns-query?dns=AAAA' } },
    { name: 'another method', sent: { ...get(WEB_QUESTION), method: 'HEAD' } },
    { name: 'no token', sent: get(WEB_QUESTION, { authorization: '' }) },
    { name: 'a wrong token', sent: get(WEB_QUESTION, { authorization: `Bearer ${token}x` }) },
    { name: 'a wrong Basic token', sent: get(WEB_QUESTION, { authorization: basic('x:y') }) },
    { name: 'a wrong token in the path', sent: { ...get(WEB_QUESTION), path: `/t/x${path}` } },
    { name: 'dots in the path', sent: { ...get(WEB_QUESTION), path: `/t/../t/${token}${path}` } },
    {
      name: 'a page of another site that uses a certificate of the browser',
      sent: get(WEB_QUESTION, { authorization: '', 'sec-fetch-site': 'cross-site' }),
    },
    { name: 'a body of another type', sent: post(message, { 'content-type': 'text/plain' }) },
    {
      name: 'a body without its size',
      sent: post(message, { 'content-length': '', 'transfer-encoding': 'chunked' }),
    },
    { name: 'a body too large', sent: post(message, { 'content-length': '65536' }) },
    { name: 'an encoded body', sent: post(message, { 'content-encoding': 'gzip' }) },
  ]
  for (const { name, sent, variables } of cases) {
    test(name, async () => {
      const fixture = await BothPaths.start(variables)
      fixture.identities = name.includes('certificate') ? [CERTIFICATE] : []
      await fixture.byApp(get(WEB_QUESTION))
      assert.equal(await fixture.directly(sent), undefined)
    })
  }

  test('the first request with a token, and one after it was revoked', async () => {
    const fixture = await BothPaths.start()
    assert.equal(await fixture.directly(get(WEB_QUESTION)), undefined)
    await fixture.byApp(get(WEB_QUESTION))
    assert.notEqual(await fixture.directly(get(WEB_QUESTION)), undefined)
    await fixture.host.advance(60_000)
    assert.equal(await fixture.directly(get(WEB_QUESTION)), undefined)
  })

  test('one request too many', async () => {
    const fixture = await BothPaths.start({ REQUESTS_PER_MINUTE: '10' })
    await fixture.byApp(get(WEB_QUESTION))
    assert.equal((await fixture.directly(get(WEB_QUESTION)))?.status, 200)
    assert.equal(await fixture.directly(get(WEB_QUESTION)), undefined)
  })
})

test('where the platform counts, each request is counted once, and those over the rate refused', async () => {
  const counted: string[] = []
  const limiter = {
    allow: async (key: string): Promise<boolean> => counted.push(key) < 3,
  }
  const fixture = await BothPaths.start({}, limiter)
  await fixture.byApp(get(WEB_QUESTION))
  const [one, other] = [
    await fixture.directly(get(WEB_QUESTION)),
    await fixture.directly(get(WEB_QUESTION)),
  ]
  assert.deepEqual([one?.status, other?.status], [200, 429])
  assert.deepEqual(counted, [record.id, record.id, record.id])
  assert.deepEqual(other, await fixture.byApp(get(WEB_QUESTION)))
})

test('while the rate limiter of the platform fails, both paths count in memory', async () => {
  const allow = (): never => assert.fail('no such namespace')
  const fixture = await BothPaths.start({ REQUESTS_PER_MINUTE: '20' }, { allow })
  const sent = get(WEB_QUESTION)
  const statuses = [(await fixture.byApp(sent)).status]
  for (let i = 0; i < 3; i++) statuses.push((await fixture.directly(sent))?.status ?? 0)
  // The app refuses those over the rate.
  assert.equal(await fixture.directly(sent), undefined)
  statuses.push((await fixture.byApp(sent)).status)
  assert.deepEqual(statuses, [200, 200, 200, 200, 429])
  const logged = fixture.host.events.map(({ message, error }) => [message, error])
  const message = 'the rate limiter fails; requests are counted in memory meanwhile'
  assert.deepEqual(logged, [[message, 'no such namespace']])
})

const CASES: readonly [path: string, token: string | undefined, route: string][] = [
  ['/dns-query?dns=AA', undefined, '/dns-query?dns=AA'],
  ['/t/kdt_a_b/dns-query?dns=AA', 'kdt_a_b', '/dns-query?dns=AA'],
  ['/t//dns-query', '', '/dns-query'],
  ['/t/kdt_a_b', undefined, '/t/kdt_a_b'],
  ['/t/../t/kdt_a_b/dns-query', '..', '/t/kdt_a_b/dns-query'],
  ['/T/kdt_a_b/dns-query', undefined, '/T/kdt_a_b/dns-query'],
]

for (const [path, token, route] of CASES) {
  test(`splits ${path}`, () => {
    const found = splitTokenPath(path)
    assert.deepEqual([found.token, path.slice(found.routeStart)], [token, route])
  })
}
