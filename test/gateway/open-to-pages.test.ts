import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { SECURITY_HEADERS } from '../../src/doh/json-response.ts'
import { openToPages } from '../../src/gateway/open-to-pages.ts'

const PAGE = 'https://app.example.org'
const ORIGINS = [PAGE, 'https://b.test']
const EXPOSED = 'kubedoh-snapshot-age'

function appWith(middleware: ReturnType<typeof openToPages>): Hono {
  const app = new Hono()
  app.onError(() => new Response('no', { status: 500, headers: { vary: 'Accept' } }))
  app.use('/q', middleware)
  app.get('/q', () => new Response('yes', { headers: { vary: 'Accept', 'x-own': '1' } }))
  app.post('/q', () => {
    throw new Error('a failure')
  })
  return app
}

type Seen = { readonly status: number; readonly text: string; readonly all: object }

/** Status, text and headers, the names in a list of `vary` in any order. */
async function ask(app: Hono, method: string, headers: Record<string, string>): Promise<Seen> {
  const response = await app.request('https://dns.test/q', { method, headers })
  const all = Object.fromEntries(response.headers)
  const vary = (all.vary ?? '').split(', ').sort()
  return { status: response.status, text: await response.text(), all: { ...all, vary } }
}

describe('pages of the web are let in as by the middleware of Hono:', () => {
  const ours = appWith(openToPages(ORIGINS, EXPOSED))
  const theirs = appWith(
    cors({
      origin: ORIGINS,
      allowMethods: ['GET', 'HEAD', 'POST'],
      allowHeaders: ['authorization', 'content-type', 'accept'],
      exposeHeaders: [EXPOSED],
      maxAge: 86_400,
    }),
  )
  const askers = [PAGE, 'https://b.test', 'https://other.test', 'null', '*', `${PAGE}/`, undefined]
  for (const method of ['OPTIONS', 'GET', 'POST', 'PUT']) {
    for (const origin of askers) {
      test(`${method} from ${origin ?? 'no page'}`, async () => {
        const headers = {
          ...(origin !== undefined && { origin }),
          ...(method === 'OPTIONS' && { 'access-control-request-headers': 'authorization' }),
        }
        const wanted = await ask(theirs, method, headers)
        const own = method === 'OPTIONS' ? SECURITY_HEADERS : {}
        const all = { ...wanted.all, ...own }
        assert.deepEqual(await ask(ours, method, headers), { ...wanted, all })
      })
    }
  }

  test('only those of the list', async () => {
    const allowed = async (origin: string): Promise<string | null> => {
      const response = await ours.request('https://dns.test/q', { headers: { origin } })
      return response.headers.get('access-control-allow-origin')
    }
    assert.equal(await allowed(PAGE), PAGE)
    assert.equal(await allowed('https://other.test'), null)
  })
})
