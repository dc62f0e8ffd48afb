/** Operators whom an issuer knows, and what their roles open. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { generateKeyPair } from '../../../src/snapshot/format/signature.ts'
import { FakeIssuer } from '../fake-issuer.ts'
import { QUESTION, Running } from '../running.ts'

const ROLES = ['viewer', 'issuer', 'operator', 'administrator'] as const
type Role = (typeof ROLES)[number]

const issuer = new FakeIssuer('https://login.example.test')
const { privateKey: EXCHANGE_KEY } = await generateKeyPair()
const own = { namespaces: ['shop-*', 'shop', 'team=a'], expires: '1d' }
const RULES = [
  { when: { role: 'viewer' }, namespaces: ['none'], role: 'viewer' },
  { when: { role: 'issuer' }, role: 'issuer', clusters: ['shop'], ...own },
  { when: { role: 'operator' }, role: 'operator', clusters: ['sh*'], namespaces: ['none'] },
  { when: { role: 'stranger' }, role: 'operator', clusters: ['other'], namespaces: ['none'] },
  { when: { role: 'administrator' }, role: 'administrator', namespaces: ['*'] },
  { when: { role: 'client' }, namespaces: ['*'] },
]
const ISSUERS = JSON.stringify([{ issuer: issuer.url, audiences: ['kubedoh'], rules: RULES }])

async function open(): Promise<Running> {
  const running = await Running.start({ ISSUERS, EXCHANGE_KEY })
  running.fetchPage = issuer.fetch
  running.exporter(() => running.host.now())
  await running.publish()
  return running
}

async function send(
  running: Running,
  [method, path]: readonly [string, string],
  { role, sub = role, body }: { role: string; sub?: string; body?: object },
): Promise<Response> {
  const iat = Math.floor(running.host.now() / 1000)
  const token = await issuer.sign(running.host.now(), { role, sub, iat })
  return running.app.request(`https://dns.example.org${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

describe('a role', () => {
  const routes: { route: readonly [string, string]; for: readonly Role[]; body?: object }[] = [
    { route: ['GET', '/metrics'], for: ['viewer', 'administrator'] },
    { route: ['GET', '/readyz'], for: ['viewer', 'administrator'] },
    { route: ['GET', '/v1/status'], for: ['viewer', 'operator', 'administrator'] },
    {
      route: ['GET', '/v1/explain?name=web.shop.svc.cluster.local'],
      for: ['viewer', 'administrator'],
    },
    { route: ['GET', '/v1/conflicts'], for: ['administrator'] },
    { route: ['GET', '/v1/clusters'], for: ['administrator'] },
    { route: ['GET', '/v1/audit'], for: ['administrator'] },
    { route: ['GET', '/v1/backup'], for: ['administrator'] },
    { route: ['POST', '/v1/backup'], for: ['administrator'] },
    { route: ['GET', '/v1/tokens'], for: ['issuer', 'administrator'] },
    { route: ['DELETE', '/v1/tokens/000000000000'], for: ['issuer', 'administrator'] },
    { route: ['POST', '/v1/tokens/restore'], for: ['administrator'], body: {} },
    { route: ['POST', '/v1/tokens/revocations'], for: ['administrator'], body: {} },
    { route: ['GET', '/v1/clusters/shop/generations'], for: ['operator', 'administrator'] },
    { route: ['DELETE', '/v1/clusters/shop/pin'], for: ['operator', 'administrator'] },
  ]
  for (const { route, for: allowed, body } of routes) {
    test(`opens ${route.join(' ')}: ${allowed.join(', ')}`, async () => {
      const running = await open()
      for (const role of [...ROLES, 'client', 'stranger', 'nobody']) {
        const { status } = await send(running, route, { role, ...(body && { body }) })
        // Another operator reads the states of its own clusters, too.
        const isStranger = role === 'stranger' && route[1] === '/v1/status'
        const isAllowed = isStranger || allowed.some((one) => one === role)
        // A client may not have names explained, and that is all it learns.
        const refused = role === 'client' || route[1].startsWith('/v1/explain') ? [401, 403] : [401]
        assert.equal(refused.includes(status), !isAllowed, `${role}: ${status}`)
      }
    })
  }

  test('is named in the audit log', async () => {
    const running = await open()
    await send(running, ['GET', '/v1/tokens'], { role: 'issuer', sub: 'ann' })
    await send(running, ['GET', '/v1/conflicts'], { role: 'administrator', sub: 'bob' })
    const lines = running.host.events.filter(({ audit }) => audit === true)
    assert.deepEqual(
      lines.map(({ operator, who }) => [operator, who]),
      [
        ['issuer', `${issuer.url} ann`],
        ['admin', `${issuer.url} bob`],
      ],
    )
  })

  test('is not in a token that was given in exchange', async () => {
    const running = await open()
    const subject_token = await issuer.sign(running.host.now(), { role: 'administrator', sub: 'x' })
    const body = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      subject_token,
    }).toString()
    const url = 'https://dns.example.org/v1/token'
    const response = await running.app.request(url, { method: 'POST', body })
    const { access_token: token } = Object(await response.json())
    assert.equal((await running.get(`/dns-query${QUESTION}`, String(token))).status, 200)
    assert.equal((await running.get('/v1/tokens', String(token))).status, 401)
    assert.equal((await running.get('/metrics', String(token))).status, 401)
  })

  test('ends when the person is revoked', async () => {
    const running = await open()
    const list = (sub: string): Promise<Response> =>
      send(running, ['GET', '/v1/tokens'], { role: 'administrator', sub })
    assert.equal((await list('ann')).status, 200)
    await running.host.advance(5000)
    const body = { subject: `${issuer.url} ann` }
    const revoked = await send(running, ['POST', '/v1/tokens/revocations'], {
      ...{ role: 'administrator', sub: 'bob' },
      body,
    })
    assert.equal(revoked.status, 201)
    running.host.step(-5000)
    assert.equal((await list('ann')).status, 401)
    assert.equal((await list('bob')).status, 200)
  })
})

describe('a token with a role', () => {
  const ADMIN = 'the-token-of-the-operator'
  const create = async (
    running: Running,
    body: object,
    token = ADMIN,
  ): Promise<{ status: number; token: string; id: string }> => {
    const response = await running.app.request('https://dns.example.org/v1/tokens', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    })
    const { token: made = '', id = '' } = Object(await response.json())
    return { status: response.status, token: made, id }
  }
  const opened = async (): Promise<Running> =>
    Running.start({ ISSUERS, EXCHANGE_KEY, ADMIN_TOKEN_SHA256: await hashToken(ADMIN) })

  for (const role of ['administrator', 'admin', '', null, ['viewer']]) {
    test(`is never ${JSON.stringify(role)}`, async () => {
      assert.equal((await create(await opened(), { role })).status, 400)
    })
  }

  test('is given by administrators only', async () => {
    const running = await opened()
    running.fetchPage = issuer.fetch
    const route = ['POST', '/v1/tokens'] as const
    const body = { clusters: ['shop'], namespaces: ['shop'], expiresInSeconds: 60, role: 'viewer' }
    assert.equal((await send(running, route, { role: 'issuer', body })).status, 403)
    const { token } = await create(running, { ...body, role: 'issuer' })
    assert.equal((await create(running, body, token)).status, 403)
    assert.equal((await create(running, { ...body, role: undefined }, token)).status, 201)
  })

  test('gives what ends before it does, and is named in the audit log and the list', async () => {
    const running = await opened()
    const scope = { clusters: ['shop'], namespaces: ['shop'] }
    const made = await create(running, { ...scope, role: 'issuer', expiresInSeconds: 100 })
    for (const [expiresInSeconds, status] of [
      [100, 201],
      [101, 403],
      [undefined, 403],
    ] as const) {
      const given = await create(running, { ...scope, expiresInSeconds }, made.token)
      assert.equal(given.status, status)
    }
    await running.host.advance(40_000)
    assert.equal(
      (await create(running, { ...scope, expiresInSeconds: 61 }, made.token)).status,
      403,
    )
    const list = await running.app.request('https://dns.example.org/v1/tokens', {
      headers: { authorization: `Bearer ${made.token}` },
    })
    const { tokens } = Object(await list.json())
    assert.partialDeepStrictEqual(tokens, [{ role: null, by: `token ${made.id}` }])
    const lines = running.host.events.filter(({ operator }) => operator === 'issuer')
    assert.deepEqual([...new Set(lines.map(({ who }) => who))], [`token ${made.id}`])
  })

  test('of an operator opens its clusters, until it is revoked', async () => {
    const running = await opened()
    running.exporter(() => running.host.now())
    await running.publish()
    const made = await create(running, { clusters: ['shop'], role: 'operator' })
    const other = await create(running, { clusters: ['prod'], role: 'operator' })
    const status = async (path: string, token: string): Promise<number> =>
      (await running.get(path, token)).status
    const path = '/v1/clusters/shop/generations'
    assert.deepEqual([await status(path, made.token), await status(path, other.token)], [200, 401])
    const states = async (token: string): Promise<number> => {
      const { clusters } = Object(await (await running.get('/v1/status', token)).json())
      return clusters.length
    }
    assert.deepEqual([await states(made.token), await states(other.token)], [1, 0])
    const headers = { authorization: `Bearer ${ADMIN}` }
    await running.send(`/v1/tokens/${made.id}`, headers, 'DELETE')
    assert.equal(await status(path, made.token), 401)
  })
})

describe('the role issuer', () => {
  const cases: { name: string; body: object; status: number }[] = [
    { name: 'its namespaces', body: { namespaces: ['shop-dev', 'shop-*', 'shop'] }, status: 201 },
    {
      name: 'narrower patterns',
      body: { namespaces: ['shop-dev-*', 'team=a&shop-*'] },
      status: 201,
    },
    { name: 'a shorter life', body: { expiresInSeconds: 60 }, status: 201 },
    { name: 'all namespaces', body: { namespaces: ['*'] }, status: 403 },
    { name: 'wider patterns', body: { namespaces: ['sho*'] }, status: 403 },
    { name: 'another namespace', body: { namespaces: ['shop', 'data'] }, status: 403 },
    { name: 'a label like a name', body: { namespaces: ['shop-a=b'] }, status: 403 },
    { name: 'another label', body: { namespaces: ['team=ab'] }, status: 403 },
    { name: 'another cluster', body: { clusters: ['prod'] }, status: 403 },
    { name: 'every cluster', body: { clusters: ['*'] }, status: 403 },
    { name: 'recursion', body: { recurse: true }, status: 403 },
    { name: 'explanations', body: { explain: true }, status: 403 },
    { name: 'a longer life', body: { expiresInSeconds: 86_401 }, status: 403 },
    { name: 'no end', body: { expiresInSeconds: undefined }, status: 403 },
    { name: 'an identity', body: { identities: ['access:@example.com'] }, status: 403 },
  ]
  for (const { name, body, status } of cases) {
    test(`${status === 201 ? 'gives' : 'does not give'} ${name}`, async () => {
      const running = await open()
      const base = { clusters: ['shop'], namespaces: ['shop'], expiresInSeconds: 86_400 }
      const route = ['POST', '/v1/tokens'] as const
      const response = await send(running, route, { role: 'issuer', body: { ...base, ...body } })
      assert.equal(response.status, status)
      assert.equal((await running.tokens.list()).length, status === 201 ? 1 : 0)
    })
  }

  test('sees, rotates and revokes its own tokens only', async () => {
    const running = await open()
    const body = { clusters: ['shop'], namespaces: ['shop'], expiresInSeconds: 60 }
    const made: string[] = []
    for (const sub of ['ann', 'bob']) {
      const route = ['POST', '/v1/tokens'] as const
      const { id } = Object(
        await (await send(running, route, { role: 'issuer', sub, body })).json(),
      )
      made.push(String(id))
    }
    const [anns = '', bobs = ''] = made
    const as = { role: 'issuer', sub: 'ann' }
    const { tokens } = Object(await (await send(running, ['GET', '/v1/tokens'], as)).json())
    assert.deepEqual(
      tokens.map(({ id }: { id: string }) => id),
      [anns],
    )
    assert.equal((await send(running, ['POST', `/v1/tokens/${bobs}/rotate`], as)).status, 404)
    assert.equal((await send(running, ['DELETE', `/v1/tokens/${bobs}`], as)).status, 404)
    assert.equal((await send(running, ['POST', `/v1/tokens/${anns}/rotate`], as)).status, 200)
    assert.equal((await send(running, ['DELETE', `/v1/tokens/${anns}`], as)).status, 204)
    assert.deepEqual(
      (await running.tokens.list()).map(({ id }) => id),
      [bobs],
    )
  })
})
