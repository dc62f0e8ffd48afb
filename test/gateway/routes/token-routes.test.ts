import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'vitest'
import { hashToken, tokenId } from '../../../src/gateway/access/token.ts'
import { createMemoryTokenStore, TOKENS_MAX } from '../../../src/gateway/access/token-store.ts'
import { errorResponse, HttpError } from '../../../src/gateway/doh/http-error.ts'
import { createTokenRoutes } from '../../../src/gateway/routes/token-routes.ts'
import { NO_TIME } from '../../turns.ts'
import { tokenRecord } from '../tokens.ts'

const ADMIN = 'the-token-of-the-operator'
const adminSha256 = await hashToken(ADMIN)
const START_MS = Date.UTC(2026, 0, 1)

type Body = Readonly<Record<string, unknown>>

/** The routes, and a clock that the test advances. */
class Fixture {
  nowMs = START_MS
  readonly store = createMemoryTokenStore()
  readonly app = createTokenRoutes({
    advise: () => [],
    takesObjects: () => true,
    host: NO_TIME,
    domainsOf: () => [],
    audiences: { github: '', gitlab: '' },
    adminSha256s: [adminSha256],
    tokenDomain: '',
    tokenStore: this.store,
    randomBytes,
    now: () => this.nowMs,
  })

  constructor() {
    this.app.onError((error) => {
      if (error instanceof HttpError) return errorResponse(error)
      throw error
    })
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Body }> {
    const response = await this.app.request(path, {
      method,
      headers: { authorization: `Bearer ${ADMIN}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  }
}

describe('the tokens of clients', () => {
  test('are made, listed without their secrets, and revoked', async () => {
    const fixture = new Fixture()
    const made = await fixture.send('POST', '/v1/tokens', {
      name: 'ci',
      namespaces: ['shop'],
      expiresInSeconds: 60,
    })
    const { token, hostname, domains, audiences, warnings, ...created } = made.body
    assert.deepEqual([made.status, domains, warnings], [201, [], []])
    assert.deepEqual(audiences, { github: '', gitlab: '' })
    assert.equal(hostname, null)
    assert.ok(typeof token === 'string' && tokenId(token) === created.id)
    assert.deepEqual(created, {
      id: created.id,
      name: 'ci',
      clusters: ['*'],
      origins: ['*'],
      namespaces: ['shop'],
      recurse: false,
      identities: [],
      created: '2026-01-01T00:00:00.000Z',
      expires: '2026-01-01T00:01:00.000Z',
      secrets: 1,
      isAlive: true,
      by: null,
      role: null,
      lastUsed: null,
    })
    const listed = await fixture.send('GET', '/v1/tokens')
    assert.deepEqual(listed.body, { tokens: [created] })
    const kept = JSON.stringify(await fixture.store.list())
    assert.ok(!kept.includes(token) && kept.includes(await hashToken(token)))
    const path = `/v1/tokens/${String(created.id)}`
    assert.equal((await fixture.send('DELETE', path)).status, 204)
    assert.equal((await fixture.send('DELETE', path)).status, 404)
    assert.deepEqual((await fixture.send('GET', '/v1/tokens')).body, { tokens: [] })
  })

  test('are listed in the order of their creation, however many', async () => {
    const fixture = new Fixture()
    const { record } = await tokenRecord()
    const ids = Array.from({ length: 450 }, (_, i) => String(i))
    for (const id of ids) await fixture.store.add({ ...record, id })
    const { body } = await fixture.send('GET', '/v1/tokens')
    const tokens = body.tokens as readonly { readonly id: string }[]
    assert.deepEqual(
      tokens.map(({ id }) => id),
      ids,
    )
  })

  test('are listed as ended when they have', async () => {
    const fixture = new Fixture()
    await fixture.send('POST', '/v1/tokens', { expiresInSeconds: 60 })
    fixture.nowMs += 60_000
    const { body } = await fixture.send('GET', '/v1/tokens')
    assert.match(JSON.stringify(body), /"isAlive":false/)
  })

  test('get another secret, the one before holding for a while', async () => {
    const fixture = new Fixture()
    const { body: made } = await fixture.send('POST', '/v1/tokens', {})
    const path = `/v1/tokens/${String(made.id)}/rotate`
    const rotated = await fixture.send('POST', `${path}?graceSeconds=60`)
    assert.equal(rotated.status, 200)
    assert.notEqual(rotated.body.token, made.token)
    assert.equal(rotated.body.secrets, 2)
    const [record] = await fixture.store.list()
    assert.deepEqual(
      record?.secrets.map(({ expiresMs }) => expiresMs),
      [START_MS + 60_000, undefined],
    )
    fixture.nowMs += 60_000
    assert.equal((await fixture.send('POST', `${path}?graceSeconds=0`)).body.secrets, 1)
  })

  test('have four secrets at most, none of which ends before its time', async () => {
    const fixture = new Fixture()
    const { body: made } = await fixture.send('POST', '/v1/tokens', {})
    const path = `/v1/tokens/${String(made.id)}/rotate`
    for (let i = 0; i < 3; i++) {
      assert.equal((await fixture.send('POST', path)).body.secrets, i + 2)
    }
    const { status, body } = await fixture.send('POST', path)
    assert.equal(status, 409)
    assert.match(JSON.stringify(body), /"too_many_secrets".*has 4 valid secrets/)
    assert.equal((await fixture.send('POST', `${path}?graceSeconds=0`)).body.secrets, 1)
  })

  test('are not rotated while something else changes them all the time', async () => {
    const fixture = new Fixture()
    const { body: made } = await fixture.send('POST', '/v1/tokens', {})
    const app = createTokenRoutes({
      advise: () => [],
      takesObjects: () => true,
      host: NO_TIME,
      domainsOf: () => [],
      audiences: { github: '', gitlab: '' },
      ...{ adminSha256s: [adminSha256], tokenDomain: '', randomBytes, now: () => START_MS },
      tokenStore: { ...fixture.store, replace: () => Promise.resolve(false) },
    })
    app.onError((error) => (error instanceof HttpError ? errorResponse(error) : new Response()))
    const response = await app.request(`/v1/tokens/${String(made.id)}/rotate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN}` },
    })
    assert.equal(response.status, 503)
  })

  test('have identities of their own', async () => {
    const fixture = new Fixture()
    const identities = [`cert:${'0a'.repeat(32)}`]
    assert.equal((await fixture.send('POST', '/v1/tokens', { identities })).status, 201)
    assert.equal((await fixture.send('POST', '/v1/tokens', { identities })).status, 409)
  })

  test('are bounded in number', async () => {
    const fixture = new Fixture()
    const { record } = await tokenRecord()
    for (let i = 0; i < TOKENS_MAX; i++) await fixture.store.add({ ...record, id: String(i) })
    const { status, body } = await fixture.send('POST', '/v1/tokens', {})
    assert.equal(status, 409)
    assert.match(JSON.stringify(body), /There are 10000 tokens; revoke some first/)
  })

  const wrong: { method: string; path: string; body?: unknown; status: number }[] = [
    { method: 'POST', path: '/v1/tokens', body: { recurse: 1 }, status: 400 },
    { method: 'POST', path: '/v1/tokens', body: 'x'.repeat(65_536), status: 413 },
    { method: 'POST', path: '/v1/tokens/000000000000/rotate', status: 404 },
    { method: 'POST', path: '/v1/tokens/a/rotate?graceSeconds=-1', status: 400 },
    { method: 'POST', path: '/v1/tokens/a/rotate?graceSeconds=1e3', status: 400 },
    { method: 'DELETE', path: '/v1/tokens/000000000000', status: 404 },
  ]
  for (const { method, path, body, status } of wrong) {
    test(`${method} ${path} is ${status}`, async () => {
      assert.equal((await new Fixture().send(method, path, body)).status, status)
    })
  }

  for (const path of ['/v1/tokens', '/v1/tokens/a', '/v1/tokens/a/rotate']) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      test(`are nobody else’s affair: ${method} ${path}`, async () => {
        const { app } = new Fixture()
        const headers = [
          {},
          { authorization: 'Bearer x' },
          { authorization: `Bearer ${adminSha256}` },
        ]
        for (const one of headers) {
          assert.equal((await app.request(path, { method, headers: one })).status, 401)
        }
      })
    }
  }

  test('are nobody’s when no operator is configured', async () => {
    const store = createMemoryTokenStore()
    const app = createTokenRoutes({
      adminSha256s: [],
      tokenDomain: '',
      tokenStore: store,
      randomBytes,
      now: () => 0,
      advise: () => [],
      takesObjects: () => true,
      host: NO_TIME,
      domainsOf: () => [],
      audiences: { github: '', gitlab: '' },
    })
    app.onError((error) => (error instanceof HttpError ? errorResponse(error) : new Response()))
    const response = await app.request('/v1/tokens', { headers: { authorization: 'Bearer ' } })
    assert.equal(response.status, 401)
  })
})
