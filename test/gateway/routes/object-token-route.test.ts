import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { hashToken } from '../../../src/gateway/access/token.ts'
import type { GatewayVariables } from '../../../src/gateway/config/config.ts'
import type { SentToken } from '../../../src/snapshot/format/client-tokens.ts'
import { readTokenIssuer } from '../../../src/snapshot/format/token-issuer.ts'
import { FakeIssuer } from '../fake-issuer.ts'
import { CLUSTERS, EXPORTER_TOKEN, Running } from '../running.ts'

const ADMIN = 'the-token-of-the-operator'
const OTHER_EXPORTER = 'the-token-of-another-exporter'
const TEXT = `kdo_${'a1'.repeat(32)}`
const WEB = '/resolve?name=web.shop.svc.shop.example.org'
const PATH = '/v1/clusters/shop/client-tokens'

type WithText = Extract<SentToken, { readonly sha256: string }>

async function sent(fields: Partial<WithText> = {}): Promise<WithText> {
  const sha256 = await hashToken(TEXT)
  const may = { namespaces: ['shop'], origins: ['*'], recurse: false, explain: false }
  return { uid: 'uid-1', name: 'shop/ci', sha256, ...may, expiresMs: null, ...fields }
}

async function start(variables: Partial<GatewayVariables> = {}): Promise<Running> {
  const prod = { ...JSON.parse(CLUSTERS).shop, tokenSha256: await hashToken(OTHER_EXPORTER) }
  const running = await Running.start({
    ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
    CLUSTERS: JSON.stringify({ ...JSON.parse(CLUSTERS), prod }),
    CLIENT_TOKEN_CLUSTERS: 'shop,pro*',
    ...variables,
  })
  await running.publish()
  return running
}

type Reply = { readonly status: number; readonly body: Record<string, unknown> }

async function request(
  { app }: Running,
  method: string,
  path: string,
  { body, token = EXPORTER_TOKEN }: { readonly body?: unknown; readonly token?: string } = {},
): Promise<Reply> {
  const headers = { authorization: `Bearer ${token}` }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const init = { method, headers, ...(body !== undefined && { body: text }) }
  const response = await app.request(`https://dns.example.org${path}`, init)
  const answer = await response.text()
  return { status: response.status, body: answer === '' ? {} : JSON.parse(answer) }
}

async function put(running: Running, ...tokens: readonly SentToken[]): Promise<Reply> {
  return request(running, 'PUT', PATH, { body: { tokens } })
}

/** Returns the status of a query with a token, and the code of its answer. */
async function query(running: Running, path = WEB, token = TEXT): Promise<string> {
  const { status, body } = await request(running, 'GET', path, { token })
  return `${status} ${body.Status ?? '-'}`
}

const SENT = await sent()
const SUBJECT = { issuer: 'https://sso.example.com', name: 'ann', keys: 'any' }

describe('ClientTokens at a gateway', () => {
  test('count from the list of the exporter on, and end with it', async () => {
    const running = await start()
    assert.equal(await query(running), '401 -')
    const { status, body } = await put(running, await sent())
    assert.equal(status, 200)
    const [token] = body.tokens as Record<string, unknown>[]
    assert.deepEqual([token?.uid, token?.lastUsed, token?.refusal], ['uid-1', null, null])
    assert.match(String(token?.id), /^[0-9a-f]{12}$/)
    assert.equal(await query(running), '200 0')
    assert.equal(await query(running, `/t/${TEXT}${WEB}`, ''), '200 0')
    assert.equal((await put(running)).status, 200)
    assert.equal(await query(running), '401 -')
    assert.deepEqual(await running.tokens.list(), [])
  })

  test('are in the list of operators, who cannot change them', async () => {
    const running = await start()
    await put(running, await sent())
    const { body } = await request(running, 'GET', '/v1/tokens', { token: ADMIN })
    const [one] = body.tokens as Record<string, unknown>[]
    assert.deepEqual(
      [one?.name, one?.by, one?.clusters, one?.namespaces],
      ['shop/ci', 'cluster shop', ['shop'], ['shop']],
    )
    const path = `/v1/tokens/${one?.id}`
    for (const [method, at] of [
      ['DELETE', path],
      ['POST', `${path}/rotate`],
    ] as const) {
      const refused = await request(running, method, at, { token: ADMIN })
      assert.equal(refused.status, 409)
      assert.match(JSON.stringify(refused.body), /object_token.*ClientToken shop\/ci of cluster/)
    }
    assert.equal(await query(running), '200 0')
  })

  test('have the day of their last use', async () => {
    const running = await start()
    await put(running, await sent())
    await query(running)
    await running.host.advance(60_000)
    await query(running)
    await Promise.all(running.kept)
    const { body } = await put(running, await sent())
    const [one] = body.tokens as Record<string, unknown>[]
    assert.equal(one?.lastUsed, new Date(running.host.now()).toISOString().slice(0, 10))
  })

  test('see the cluster of the exporter only, whatever it sends', async () => {
    const running = await start()
    const wide = { ...(await sent()), clusters: ['*'], namespaces: ['*'] }
    await put(running, wide)
    const [record] = await running.tokens.list()
    assert.deepEqual(record?.scope.clusters, ['shop'])
    const path = '/v1/clusters/prod/client-tokens'
    const body = { tokens: [await sent()] }
    assert.equal((await request(running, 'PUT', path, { body })).status, 401)
    const foreign = await request(running, 'PUT', path, { body, token: OTHER_EXPORTER })
    assert.match(JSON.stringify(foreign.body), /TokenTaken/)
    assert.equal((await running.tokens.list()).length, 1)
  })

  test('of a cluster leave those of others, and of persons, as they are', async () => {
    const running = await start()
    await request(running, 'POST', '/v1/tokens', { body: { name: 'person' }, token: ADMIN })
    await put(running, await sent())
    const path = '/v1/clusters/prod/client-tokens'
    await request(running, 'PUT', path, { body: { tokens: [] }, token: OTHER_EXPORTER })
    await put(running)
    const names = (await running.tokens.list()).map(({ name }) => name)
    assert.deepEqual(names, ['person'])
  })

  test('name a client of an issuer: the oldest counts, and the list has it', async () => {
    const issuer = new FakeIssuer('https://sso.example.com')
    const ISSUERS = JSON.stringify([
      {
        issuer: issuer.url,
        audiences: ['kubedoh'],
        rules: [{ when: { a: 'b' }, namespaces: ['*'] }],
      },
    ])
    const running = await start({ ISSUERS })
    running.fetchPage = issuer.fetch
    const { sha256: _, ...about } = await sent()
    const subject = { issuer: issuer.url, name: 'ann', keys: 'any' } as const
    const young = { ...about, uid: 'uid-2', subject, namespaces: ['web'] }
    const token = await issuer.sign(running.host.now(), { sub: 'ann' })
    assert.equal(await query(running, WEB, token), '401 -')
    const { body } = await put(running, { ...about, subject }, young)
    assert.deepEqual(
      (body.tokens as Record<string, unknown>[]).map(({ refusal }) => Object(refusal).reason),
      [undefined, 'SubjectTaken'],
    )
    assert.equal(await query(running, WEB, token), '200 0')
    const list = await request(running, 'GET', '/v1/tokens', { token: ADMIN })
    const [one] = list.body.tokens as Record<string, unknown>[]
    assert.deepEqual(
      [one?.identities, one?.secrets, one?.name],
      [['subject:https://sso.example.com ann'], 0, 'shop/ci'],
    )
    const tenant = { ...about, subject: { ...subject, keys: 'cluster' as const } }
    await put(running, tenant)
    assert.equal(await query(running, WEB, token), '401 -')
    await put(running, young)
    assert.equal(await query(running, WEB, token), '200 3')
    await put(running)
    assert.equal(await query(running, WEB, token), '401 -')
  })

  test('of tenants count for the ServiceAccounts of their own cluster', async () => {
    const api = new FakeIssuer('https://kubernetes.default.svc')
    const entry = { issuer: api.url, audiences: ['kubedoh'], rules: [] }
    const ISSUERS = JSON.stringify([
      { ...entry, keys: 'cluster:prod' },
      { ...entry, keys: 'cluster:shop' },
    ])
    const running = await start({ ISSUERS })
    const published = readTokenIssuer(api.url, (await api.keySet()).keys)
    await running.publish(undefined, 2, undefined, undefined, published)
    await running.host.advance(10_000)
    const { sha256: _, ...about } = await sent()
    const name = 'system:serviceaccount:shop:ci'
    await put(running, { ...about, subject: { issuer: api.url, name, keys: 'cluster' } })
    const token = await api.sign(running.host.now(), { sub: name })
    assert.equal(await query(running, WEB, token), '200 0')
    assert.equal(await query(running, `/t/${token}${WEB}`, ''), '200 0')
    await put(running)
    assert.equal(await query(running, WEB, token), '401 -')
  })

  test('see the namespaces that they give, and no others', async () => {
    const running = await start()
    await put(running, await sent({ namespaces: ['web'] }))
    assert.equal(await query(running), '200 3')
  })

  test('end at their time, and with a text that is replaced', async () => {
    const running = await start()
    const expiresMs = running.host.now() + 1000
    await put(running, await sent({ expiresMs }))
    assert.equal(await query(running), '200 0')
    await running.host.advance(1001)
    assert.equal(await query(running), '401 -')
    const other = `kdo_${'b2'.repeat(32)}`
    await put(running, await sent({ sha256: await hashToken(other) }))
    assert.equal(await query(running, WEB, other), '200 0')
    assert.equal(await query(running), '401 -')
  })

  test('do not count where the gateway does not name their cluster, also later', async () => {
    const running = await start({ CLIENT_TOKEN_CLUSTERS: 'pro*' })
    const { status, body } = await put(running, await sent())
    assert.equal(status, 403)
    assert.match(JSON.stringify(body), /objects_refused.*CLIENT_TOKEN_CLUSTERS/)
    const before = await start()
    await put(before, await sent())
    const records = await before.tokens.list()
    await running.tokens.replaceObjects('shop', records)
    await running.host.advance(1000)
    assert.equal(await query(running), '401 -')
    // What is left is removed as any token.
    const path = `/v1/tokens/${records[0]?.id}`
    assert.equal((await request(running, 'DELETE', path, { token: ADMIN })).status, 204)
  })

  const bad: { readonly name: string; readonly body: unknown; readonly status: number }[] = [
    { name: 'no JSON', body: '{', status: 400 },
    { name: 'no list', body: { tokens: {} }, status: 400 },
    { name: 'no token', body: { tokens: [7] }, status: 400 },
    { name: 'no hash', body: { tokens: [{ uid: 'a', name: 'a/b' }] }, status: 400 },
    {
      name: 'a hash and a subject',
      body: { tokens: [{ ...SENT, subject: SUBJECT }] },
      status: 400,
    },
    ...[
      undefined,
      'ann',
      {},
      { ...SUBJECT, keys: undefined },
      { ...SUBJECT, keys: 'all' },
      { ...SUBJECT, issuer: 'sso' },
      { ...SUBJECT, issuer: 'https://a b' },
      { ...SUBJECT, issuer: `https://${'a'.repeat(505)}` },
      { ...SUBJECT, name: '' },
      { ...SUBJECT, name: 'ann\n' },
      { ...SUBJECT, name: 'a'.repeat(256) },
    ].map((subject) => ({
      name: `the subject ${JSON.stringify(subject)?.slice(0, 60)}`,
      body: { tokens: [{ ...SENT, sha256: undefined, subject }] },
      status: 400,
    })),
    { name: 'too many', body: { tokens: Array(1001).fill(SENT) }, status: 400 },
    { name: 'too large', body: ' '.repeat(4 * 1024 * 1024 + 1), status: 413 },
  ]
  for (const { name, body, status } of bad) {
    test(`stay as they were after a body with ${name}`, async () => {
      const running = await start()
      await put(running, await sent())
      assert.equal((await request(running, 'PUT', PATH, { body })).status, status)
      assert.equal(await query(running), '200 0')
    })
  }

  test('with an invalid pattern are refused, and the others count', async () => {
    const running = await start()
    const wrong = await sent({ uid: 'uid-2', name: 'shop/no', namespaces: ['UPPER'] })
    const { body } = await put(running, wrong, await sent())
    assert.match(JSON.stringify(body), /"reason":"InvalidScope"/)
    assert.equal(await query(running), '200 0')
  })

  test('have a line of the audit log for each change, without their hashes', async () => {
    const running = await start()
    await put(running, await sent())
    await put(running, await sent())
    await put(running)
    const lines = running.host.events.filter(({ audit }) => audit === true)
    assert.deepEqual(
      lines.map(({ operator, who, added, removed }) => [operator, who, added, removed]),
      [
        ['exporter', 'shop', 1, 0],
        ['exporter', 'shop', 0, 1],
      ],
    )
    assert.ok(!JSON.stringify(lines).includes(await hashToken(TEXT)))
  })

  test('are masked in the audit log, where an operator sends one in place of an ID', async () => {
    const running = await start()
    await request(running, 'DELETE', `/v1/tokens/${TEXT}`, { token: ADMIN })
    const lines = JSON.stringify(running.host.events.filter(({ audit }) => audit === true))
    assert.match(lines, /kdo_…/)
    assert.ok(!lines.includes(TEXT))
  })
})
