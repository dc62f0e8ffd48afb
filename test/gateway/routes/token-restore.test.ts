import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { hashToken } from '../../../src/gateway/access/token.ts'
import {
  createMemoryTokenStore,
  type Restoration,
  type TokenStore,
} from '../../../src/gateway/access/token-store.ts'
import { errorResponse, HttpError } from '../../../src/gateway/doh/http-error.ts'
import { createTokenRoutes } from '../../../src/gateway/routes/token-routes.ts'
import { NO_TIME } from '../../turns.ts'
import { tokenRecord } from '../tokens.ts'

const ADMIN = 'the-token-of-the-operator'
const adminSha256 = await hashToken(ADMIN)
const NOW_MS = Date.UTC(2026, 0, 31, 12)

async function post(
  store: TokenStore,
  body: string,
  token = ADMIN,
): Promise<{ status: number; body: unknown }> {
  const app = createTokenRoutes({
    advise: () => [],
    takesObjects: () => true,
    host: NO_TIME,
    domainsOf: () => [],
    audiences: { github: '', gitlab: '' },
    adminSha256s: [adminSha256],
    tokenDomain: '',
    tokenStore: store,
    randomBytes: () => assert.fail(),
    now: () => NOW_MS,
  })
  app.onError((error) => {
    if (error instanceof HttpError) return errorResponse(error)
    throw error
  })
  const headers = { authorization: `Bearer ${token}` }
  const response = await app.request('/v1/tokens/restore', { method: 'POST', headers, body })
  return { status: response.status, body: await response.json() }
}

/** A store with a way back. */
function storeWith(restore: (atMs: number) => Restoration): TokenStore {
  return { ...createMemoryTokenStore(), restore: async (atMs) => restore(atMs) }
}

describe('POST /v1/tokens/restore', () => {
  test('says which tokens came back, went and changed', async () => {
    const [kept, gone, back, rotated] = await Promise.all(
      ['kept', 'gone', 'back', 'rotated'].map(async (id) => (await tokenRecord({ id })).record),
    )
    assert.ok(kept && gone && back && rotated)
    const now = [{ ...kept, usedDay: 20_000 }, gone, { ...rotated, secrets: [] }]
    let list = now
    const store: TokenStore = {
      ...createMemoryTokenStore(),
      list: async () => list,
      restore: async (atMs) => {
        list = [kept, back, rotated]
        return { kind: 'restored', atMs: atMs - 60_000 }
      },
    }
    assert.deepEqual(await post(store, '{"at":"2026-01-30T08:00Z"}'), {
      status: 200,
      body: {
        at: '2026-01-30T07:59:00.000Z',
        tokens: 3,
        returned: ['back'],
        removed: ['gone'],
        changed: ['rotated'],
      },
    })
  })

  const refused = [
    '',
    '{}',
    '[]',
    '{"at":1767225600000}',
    '{"at":"2026-01-30"}',
    '{"at":"2026-01-30T08:00"}',
    '{"at":"2026-01-30T08:00+01:00"}',
    '{"at":"2026-13-30T08:00Z"}',
    '{"at":"2026-01-31T12:01Z"}',
    '{"at":"2026-01-01T11:59Z"}',
  ]
  for (const body of refused) {
    test(`refuses ${body || 'an empty body'}, and restores nothing`, async () => {
      const { status, body: answer } = await post(
        storeWith(() => assert.fail()),
        body,
      )
      assert.equal(status, 400)
      const message = '"at" is not a time in UTC of the last 30 days, such as "2026-11-28T10:00Z"'
      assert.deepEqual(answer, { error: { code: 'bad_field', message } })
    })
  }

  const at = '{"at":"2026-01-30T08:00Z"}'
  const failures: { name: string; store: TokenStore; status: number; error: object }[] = [
    {
      name: 'a store without earlier lists',
      store: createMemoryTokenStore(),
      status: 501,
      error: {
        code: 'cannot_restore',
        message: 'Tokens cannot be restored here: the store keeps no earlier ones',
      },
    },
    {
      name: 'a platform that cannot',
      store: storeWith(() => ({ kind: 'unsupported', reason: 'no recovery' })),
      status: 501,
      error: { code: 'cannot_restore', message: 'Tokens cannot be restored here: no recovery' },
    },
    {
      name: 'a store whose lists begin later',
      store: storeWith(() => ({ kind: 'missing', oldestMs: NOW_MS })),
      status: 404,
      error: {
        code: 'unknown_time',
        message:
          'The store has no list of tokens of that time; the oldest is of 2026-01-31T12:00:00.000Z',
      },
    },
    {
      name: 'a store that never had tokens',
      store: storeWith(() => ({ kind: 'missing', oldestMs: undefined })),
      status: 404,
      error: { code: 'unknown_time', message: 'The store has no list of tokens of that time' },
    },
  ]
  for (const { name, store, status, error } of failures) {
    test(`is ${status} for ${name}`, async () => {
      assert.deepEqual(await post(store, at), { status, body: { error } })
    })
  }

  test('is for the operator only', async () => {
    const { status } = await post(
      storeWith(() => assert.fail()),
      at,
      'another',
    )
    assert.equal(status, 401)
  })

  test('takes at most 1,024 bytes', async () => {
    assert.equal((await post(createMemoryTokenStore(), ' '.repeat(1025))).status, 413)
  })
})
