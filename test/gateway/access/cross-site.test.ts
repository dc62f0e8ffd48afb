import assert from 'node:assert/strict'
import { test } from 'vitest'
import { hashToken } from '../../../src/gateway/access/token.ts'
import { Running } from '../running.ts'

const ADMIN = 'the-token-of-the-operator'
/** As a browser sends it that remembers `https://x:ADMIN@dns.example.org/`. */
const authorization = `Basic ${btoa(`x:${ADMIN}`)}`

const CASES: readonly [site: string | undefined, method: string, path: string, status: number][] = [
  ['cross-site', 'POST', '/v1/tokens', 403],
  ['same-site', 'POST', '/v1/tokens', 403],
  ['cross-site', 'POST', '/v1/tokens/0123456789ab/rotate', 403],
  ['cross-site', 'DELETE', '/v1/tokens/0123456789ab', 403],
  ['cross-site', 'PUT', '/v1/clusters/shop/pin', 403],
  ['cross-site', 'DELETE', '/v1/clusters/shop/pin', 403],
  ['cross-site', 'GET', '/v1/tokens', 200],
  ['same-origin', 'POST', '/v1/tokens', 201],
  ['none', 'POST', '/v1/tokens', 201],
  [undefined, 'POST', '/v1/tokens', 201],
]

for (const [site, method, path, status] of CASES) {
  test(`${method} ${path} of a page that is ${site ?? 'none'} gets ${status}`, async () => {
    const running = await Running.start({ ADMIN_TOKEN_SHA256: await hashToken(ADMIN) })
    const headers = {
      authorization,
      'content-type': 'application/json',
      ...(site !== undefined && { 'sec-fetch-site': site }),
    }
    const body = method === 'POST' ? '{}' : undefined
    const response = await running.app.request(path, { method, headers, ...(body && { body }) })
    assert.equal(response.status, status)
    const { error } = Object(await response.json())
    assert.equal(error?.code, status === 403 ? 'cross_site' : undefined)
    if (status === 403) assert.equal((await running.tokens.list()).length, 0)
  })
}
