import assert from 'node:assert/strict'
import { Hono } from 'hono'
import { describe, test } from 'vitest'
import { checkAdmin } from '../../../src/gateway/access/operators.ts'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { HttpError } from '../../../src/gateway/doh/http-error.ts'

const sha256 = await hashToken('secret')

async function statusFor(known: readonly string[], authorization?: string): Promise<number> {
  const app = new Hono()
  app.onError(
    (error) => new Response(null, { status: error instanceof HttpError ? error.status : 500 }),
  )
  app.get('/', async (c) => {
    await checkAdmin(c, known)
    return new Response()
  })
  const headers = authorization === undefined ? {} : { authorization }
  return (await app.request('/', { headers })).status
}

describe('checkAdmin', () => {
  test('accepts the operator (admin) token only', async () => {
    assert.equal(await statusFor([sha256], 'Bearer secret'), 200)
    assert.equal(await statusFor([sha256], 'Bearer secrets'), 401)
    assert.equal(await statusFor([sha256]), 401)
    assert.equal(await statusFor([], 'Bearer secret'), 401)
  })

  test('accepts the token that replaces it beside it', async () => {
    const both = [await hashToken('next'), sha256]
    assert.equal(await statusFor(both, 'Bearer secret'), 200)
    assert.equal(await statusFor(both, 'Bearer next'), 200)
    assert.equal(await statusFor(both, 'Bearer other'), 401)
  })
})
