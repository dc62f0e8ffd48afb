import assert from 'node:assert/strict'
import { Hono } from 'hono'
import { describe, it, test } from 'vitest'
import {
  AGE_HEADER,
  AgeHeaders,
  CorsHeaders,
  createCors,
} from '../../../src/gateway/access/cors.ts'
import { SECURITY_HEADERS } from '../../../src/gateway/doh/json-response.ts'

const PAGE = 'https://app.example.org'
const OTHER_PAGE = 'https://b.test'
const ORIGINS = [PAGE, OTHER_PAGE]
const EXPOSED = 'kubedoh-snapshot-age'
const STRANGERS = ['https://other.test', 'null', '*', `${PAGE}/`, PAGE.toUpperCase(), undefined]
const PREFLIGHT = {
  ...SECURITY_HEADERS,
  'access-control-allow-headers': 'authorization,content-type,accept',
  'access-control-allow-methods': 'GET,HEAD,POST',
  'access-control-expose-headers': EXPOSED,
  'access-control-max-age': '86400',
  vary: 'Origin, Access-Control-Request-Headers',
}

const app = new Hono()
app.onError(() => new Response('no', { status: 500, headers: { vary: 'Accept' } }))
app.use('/q', createCors(ORIGINS))
app.get('/q', () => new Response('yes', { headers: { vary: 'Accept', 'x-own': '1' } }))
app.post('/q', () => {
  throw new Error('a failure')
})

type Seen = { readonly status: number; readonly text: string; readonly headers: object }

async function request(method: string, origin: string | undefined): Promise<Seen> {
  const headers = {
    ...(origin !== undefined && { origin }),
    ...(method === 'OPTIONS' && { 'access-control-request-headers': 'x-anything' }),
  }
  const response = await app.request('https://dns.test/q', { method, headers })
  const text = await response.text()
  return { status: response.status, text, headers: Object.fromEntries(response.headers) }
}

describe('CORS', () => {
  const allowed: readonly (readonly [origin: string | undefined, headers: object])[] = [
    ...ORIGINS.map((origin) => [origin, { 'access-control-allow-origin': origin }] as const),
    ...STRANGERS.map((origin) => [origin, {}] as const),
  ]
  for (const [origin, allow] of allowed) {
    const from = origin ?? 'no page'
    test(`answers a preflight from ${from}`, async () => {
      const { status, text, headers } = await request('OPTIONS', origin)
      assert.deepEqual({ status, text }, { status: 204, text: '' })
      assert.deepEqual(headers, { ...PREFLIGHT, ...allow })
    })

    test(`adds its headers to a response and to a failure for ${from}`, async () => {
      const more = { 'access-control-expose-headers': EXPOSED, vary: 'Accept, Origin', ...allow }
      const type = { 'content-type': 'text/plain;charset=UTF-8' }
      const headers = { ...type, ...more }
      const read = await request('GET', origin)
      assert.deepEqual(read, { status: 200, text: 'yes', headers: { ...headers, 'x-own': '1' } })
      assert.deepEqual(await request('POST', origin), { status: 500, text: 'no', headers })
    })

    test(`adds the same headers to a response without the app for ${from}`, () => {
      const pages = new CorsHeaders(ORIGINS)
      const own = { 'x-own': '1' }
      const headers = pages.with(own, origin ?? '', ['Accept'])
      const common = { 'access-control-expose-headers': EXPOSED, vary: 'Accept, Origin' }
      assert.deepEqual(headers, { ...own, ...common, ...allow })
      assert.equal(pages.with(own, origin ?? '', ['Accept']), headers)
    })
  }
})

describe('AgeHeaders', () => {
  it('returns seconds', () => {
    const ages = new AgeHeaders()
    assert.deepEqual(ages.of(0), { [AGE_HEADER]: '0' })
    assert.deepEqual(ages.of(1499), { [AGE_HEADER]: '1' })
    assert.deepEqual(ages.of(1500), { [AGE_HEADER]: '2' })
  })

  it('returns nothing without names', () => {
    assert.deepEqual(new AgeHeaders().of(Number.POSITIVE_INFINITY), {})
  })

  it('creates one object for each age, and starts again after many', () => {
    const ages = new AgeHeaders()
    const first = ages.of(1000)
    assert.equal(ages.of(1001), first)
    for (let i = 2; i <= 65; i++) ages.of(1000 * i)
    assert.notEqual(ages.of(1000), first)
    assert.deepEqual(ages.of(1000), first)
  })
})
