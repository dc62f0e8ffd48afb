import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
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

describe('a page of another site', () => {
  /** What browsers send for it, with `Sec-Fetch-Site` or, in older ones, with `Origin`. */
  const pages: readonly Readonly<Record<string, string>>[] = [
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site', origin: 'https://other.example.org' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'invented' },
    { origin: 'https://evil.example' },
    { origin: 'https://dns.example.org.evil.example' },
    { origin: 'https://dns.example.org:8443' },
    { origin: 'null' },
  ]
  const own: readonly Readonly<Record<string, string>>[] = [
    {},
    { origin: 'https://dns.example.org' },
    { origin: 'http://dns.example.org' },
    { 'sec-fetch-site': 'same-origin', origin: 'https://dns.example.org' },
  ]

  test('changes nothing below /v1, by no route and no method', async () => {
    const running = await Running.start({ ADMIN_TOKEN_SHA256: await hashToken(ADMIN) })
    const routes = running.app.routes.filter(({ path }) => path.startsWith('/v1/'))
    const unsafe = routes.filter(({ method }) => !['GET', 'ALL'].includes(method))
    assert.ok(unsafe.length > 15)
    const others = ['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => ({ method, path: '/v1/x' }))
    for (const { method, path } of [...unsafe, ...others]) {
      const url = `https://dns.example.org${path.replace(/:\w+/g, 'shop')}`
      const codeOf = async (more: Readonly<Record<string, string>>): Promise<unknown> => {
        const headers = { authorization, ...more }
        const response = await running.app.request(url, { method, headers })
        return Object(await response.json().catch(() => ({}))).error?.code
      }
      for (const page of pages) {
        assert.equal(await codeOf(page), 'cross_site', `${method} ${path} ${JSON.stringify(page)}`)
      }
      assert.deepEqual(await running.tokens.list(), [])
      for (const page of own) assert.notEqual(await codeOf(page), 'cross_site')
      for (const { id } of await running.tokens.list()) await running.tokens.remove(id)
    }
  })
})
