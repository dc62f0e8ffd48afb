/** Tokens that a gateway gives in exchange for those of issuers. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ownerOf, subjectIdentity } from '../../../src/gateway/access/object-tokens.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import type { GatewayVariables } from '../../../src/gateway/config/config.ts'
import { generateKeyPair } from '../../../src/snapshot/format/signature.ts'
import { FakeIssuer } from '../fake-issuer.ts'
import { WEB } from '../publishing.ts'
import { QUESTION, Running } from '../running.ts'
import { tokenRecord } from '../tokens.ts'

const issuer = new FakeIssuer('https://ci.example.test')
const { privateKey: EXCHANGE_KEY } = await generateKeyPair()
const ADMIN = 'the-operator'
const FORM = {
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
}

function issuersWith(rule: object): string {
  const rules = [{ when: { sub: 'job-*' }, namespaces: ['shop'], expires: '1h', ...rule }]
  return JSON.stringify([{ issuer: issuer.url, audiences: ['kubedoh'], rules }])
}

function byRbac(prefix: string): string {
  const [first] = JSON.parse(issuersWith({ clusters: ['shop'], namespaces: 'rbac' }))
  const kubernetes = { username: { prefix }, groups: { claim: 'groups', prefix } }
  return JSON.stringify([{ ...first, kubernetes }])
}

async function open(variables: Partial<GatewayVariables> = {}): Promise<Running> {
  const ADMIN_TOKEN_SHA256 = await hashToken(ADMIN)
  const ISSUERS = issuersWith({})
  const running = await Running.start({ ISSUERS, EXCHANGE_KEY, ADMIN_TOKEN_SHA256, ...variables })
  running.fetchPage = issuer.fetch
  await running.publish()
  return running
}

function exchange(running: Running, form: Readonly<Record<string, string>>): Promise<Response> {
  const init = { method: 'POST', body: new URLSearchParams(form).toString() }
  return Promise.resolve(running.app.request('https://dns.example.org/v1/token', init))
}

async function tokenFor(running: Running, sub: string): Promise<string> {
  const subject_token = await issuer.sign(running.host.now(), {
    sub,
    iat: Math.floor(running.host.now() / 1000),
  })
  const response = await exchange(running, { ...FORM, subject_token })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('cache-control'), 'no-store')
  const { access_token: token, ...rest } = Object(await response.json())
  assert.deepEqual(rest, {
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: 3600,
  })
  return String(token)
}

async function status(running: Running, token: string): Promise<number> {
  return (await running.get(`/t/${token}/dns-query${QUESTION}`)).status
}

async function revoke(running: Running, subject: string): Promise<Response> {
  const headers = { authorization: `Bearer ${ADMIN}` }
  const init = { method: 'POST', headers, body: JSON.stringify({ subject }) }
  return running.app.request('https://dns.example.org/v1/tokens/revocations', init)
}

describe('a token that was given in exchange', () => {
  test('counts until its rule says, without its issuer', async () => {
    const running = await open()
    const token = await tokenFor(running, 'job-1')
    running.fetchPage = () => Promise.reject(new Error('away'))
    assert.equal(await status(running, token), 200)
    await running.host.advance(3_599_000)
    await running.publish(undefined, 2)
    assert.equal(await status(running, token), 200)
    await running.host.advance(61_000)
    assert.equal(await status(running, token), 401)
  })

  test('is not given to a client that only a ClientToken lets in', async () => {
    const running = await open({ CLIENT_TOKEN_CLUSTERS: 'shop' })
    const subject = { issuer: issuer.url, name: 'ann', keys: 'any' } as const
    await running.tokens.replaceObjects('shop', [
      {
        ...(await tokenRecord()).record,
        identities: [subjectIdentity(subject)],
        by: ownerOf('shop'),
      },
    ])
    const subject_token = await issuer.sign(running.host.now(), { sub: 'ann' })
    assert.equal(await status(running, subject_token), 200)
    const response = await exchange(running, { ...FORM, subject_token })
    assert.equal(response.status, 400)
    assert.match(await response.text(), /"invalid_grant".*A ClientToken names the subject/)
  })

  test('ends with its rule, and when its key goes', async () => {
    const running = await open()
    const token = await tokenFor(running, 'job-1')
    const { privateKey: next } = await generateKeyPair()
    const others: [variables: Partial<GatewayVariables>, expected: number][] = [
      [{ EXCHANGE_KEY: `${next} ${EXCHANGE_KEY}` }, 200],
      [{ EXCHANGE_KEY: next }, 401],
      [{ EXCHANGE_KEY: '' }, 401],
      [{ ISSUERS: issuersWith({ expires: '2h' }) }, 200],
      [{ ISSUERS: issuersWith({ namespaces: ['*'] }) }, 401],
      [{ ISSUERS: issuersWith({ when: { sub: '*' } }) }, 401],
      [{ ISSUERS: '' }, 401],
    ]
    for (const [variables, expected] of others) {
      assert.equal(await status(await open(variables), token), expected, JSON.stringify(variables))
    }
  })

  test('cannot prolong itself', async () => {
    const running = await open()
    const token = await tokenFor(running, 'job-1')
    const response = await exchange(running, { ...FORM, subject_token: token })
    assert.equal(response.status, 400)
    assert.equal(Object(await response.json()).error, 'invalid_grant')
  })

  test('by RBAC has the user and groups of then, and counts without its issuer', async () => {
    const running = await open({ ISSUERS: byRbac('oidc:') })
    const claims = { sub: 'job-1', groups: ['dev'] }
    const subject_token = await issuer.sign(running.host.now(), claims)
    const { access_token: token } = Object(
      await (await exchange(running, { ...FORM, subject_token })).json(),
    )
    running.fetchPage = () => Promise.reject(new Error('away'))
    const ask = async (at: Running): Promise<string> =>
      (await at.get('/resolve?name=web.shop.svc.shop.example.org&type=A', String(token))).text()
    assert.match(await ask(running), /"Status":3/)
    const rightsOf = [{ kind: 'group', name: 'oidc:dev', namespaces: ['shop'] }] as const
    await running.publishWhole(WEB, 2, { rightsOf })
    await running.host.advance(1000)
    await ask(running)
    await Promise.all(running.kept)
    assert.match(await ask(running), /"Status":0/)
    const other = await open({ ISSUERS: byRbac('sso:') })
    assert.match(await ask(other), /unauthorized/)
  })

  test('by RBAC is not given for more groups than fit', async () => {
    const running = await open({ ISSUERS: byRbac('oidc:') })
    const groups = Array.from({ length: 100 }, (_, i) => `group-${i}`)
    const subject_token = await issuer.sign(running.host.now(), { sub: 'job-1', groups })
    assert.equal(await status(running, subject_token), 200)
    const response = await exchange(running, { ...FORM, subject_token })
    assert.equal(response.status, 400)
    const { error, error_description: why } = Object(await response.json())
    assert.equal(error, 'invalid_request')
    assert.match(why, /more groups than fit into a token/)
  })

  test('is refused once its subject is revoked, and others are not', async () => {
    const running = await open()
    const [one, two] = [await tokenFor(running, 'job-1'), await tokenFor(running, 'job-2')]
    const direct = await issuer.sign(running.host.now(), { sub: 'job-1', iat: 1 })
    assert.deepEqual([await status(running, one), await status(running, direct)], [200, 200])
    await running.host.advance(2000)
    for (const name of ['revoked', 'revoked again']) {
      const response = await revoke(running, `${issuer.url} job-1`)
      assert.equal(response.status, 201, name)
    }
    assert.equal((await running.tokens.list()).length, 1)
    assert.deepEqual([await status(running, one), await status(running, direct)], [401, 401])
    assert.equal(await status(running, two), 200)
    await running.host.advance(2000)
    assert.equal(await status(running, await tokenFor(running, 'job-1')), 200)
    const [record] = await running.tokens.list()
    const path = `/v1/tokens/${record?.id}`
    const headers = { authorization: `Bearer ${ADMIN}` }
    assert.equal((await running.send(path, headers, 'DELETE')).status, 204)
    assert.equal(await status(running, one), 200)
  })
})

describe('an exchange', () => {
  const cases: { name: string; form: Readonly<Record<string, string>>; error: string }[] = [
    { name: 'of another grant', form: { grant_type: 'password' }, error: 'unsupported_grant_type' },
    { name: 'of nothing', form: { subject_token: '' }, error: 'invalid_request' },
    {
      name: 'of another type',
      form: { subject_token_type: 'urn:ietf:params:oauth:token-type:saml2' },
      error: 'invalid_request',
    },
    { name: 'of no JWT', form: { subject_token: 'a.b.c' }, error: 'invalid_grant' },
  ]
  for (const { name, form, error } of cases) {
    test(`${name} is refused`, async () => {
      const response = await exchange(await open(), { ...FORM, subject_token: 'x', ...form })
      assert.equal(response.status, 400)
      assert.equal(Object(await response.json()).error, error)
    })
  }

  test('without a rule, or without a name, is refused', async () => {
    const running = await open({ ISSUERS: issuersWith({ when: { a: '1' } }) })
    for (const claims of [{ sub: 'x' }, { a: '1' }, { a: '1', sub: 'x'.repeat(256) }]) {
      const subject_token = await issuer.sign(running.host.now(), claims)
      const response = await exchange(running, { ...FORM, subject_token })
      assert.equal(Object(await response.json()).error, 'invalid_grant')
    }
  })

  test('of a revoked subject is refused', async () => {
    const running = await open()
    const subject_token = await issuer.sign(running.host.now(), { sub: 'job-1', iat: 1 })
    assert.equal((await revoke(running, `${issuer.url} job-1`)).status, 201)
    const response = await exchange(running, { ...FORM, subject_token })
    assert.equal(Object(await response.json()).error, 'invalid_grant')
  })

  test('in a loop meets the rate limit of its address, whatever it sends', async () => {
    const running = await open({ REQUESTS_PER_MINUTE: '30' })
    const statuses = new Map<number, number>()
    for (let i = 0; i < 60; i++) {
      const claims = i % 2 === 0 ? { sub: `job-${i}` } : { sub: 'x' }
      const subject_token = await issuer.sign(running.host.now(), claims)
      const { status } = await exchange(running, { ...FORM, subject_token })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    assert.ok((statuses.get(429) ?? 0) >= 29, JSON.stringify([...statuses]))
    assert.deepEqual([...statuses.keys()].sort(), [200, 400, 429])
  })

  test('is 404 without a key, and has a bound', async () => {
    const closed = await open({ EXCHANGE_KEY: '' })
    assert.equal((await exchange(closed, { ...FORM, subject_token: 'x' })).status, 404)
    const large = { ...FORM, subject_token: 'x'.repeat(20_000) }
    assert.equal((await exchange(await open(), large)).status, 413)
  })
})

describe('where people log in', () => {
  const client = { id: 'cli', scopes: 'openid email' }
  const [first] = JSON.parse(issuersWith({}))
  const withClient = JSON.stringify([
    { ...first, client },
    { ...first, issuer: 'https://b.test' },
  ])
  const found = { issuers: [{ issuer: issuer.url, clientId: 'cli', scopes: 'openid email' }] }
  const cases: { name: string; variables: Partial<GatewayVariables>; body?: object }[] = [
    { name: 'is at the issuers with a client', variables: { ISSUERS: withClient }, body: found },
    { name: 'is nowhere without a client', variables: {} },
    {
      name: 'is nowhere without a key to exchange tokens',
      variables: { ISSUERS: withClient, EXCHANGE_KEY: '' },
    },
  ]
  for (const { name, variables, body } of cases) {
    test(name, async () => {
      const response = await (await open(variables)).get('/v1/login')
      assert.equal(response.status, body === undefined ? 404 : 200)
      const json = Object(await response.json())
      if (body === undefined) assert.equal(json.error.code, 'no_login')
      else assert.deepEqual(json, body)
    })
  }
})

test('a revocation names an issuer and a subject', async () => {
  const running = await open()
  assert.equal((await revoke(running, `${issuer.url} Jürgen 山田`)).status, 201)
  for (const subject of ['', 'job-1', 'https://x ', ' job', 'https://x a\nb', 'x y'.repeat(300)]) {
    assert.equal((await revoke(running, subject)).status, 400, subject)
  }
})
