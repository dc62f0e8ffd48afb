import assert from 'node:assert/strict'
import { afterEach, test, vi } from 'vitest'
import {
  explain,
  GatewayFailure,
  readKitFile,
  readNames,
  readQuery,
  readZones,
  sendQuery,
} from '../../page/gateway.ts'

afterEach(() => vi.unstubAllGlobals())

/** Has the page's gateway respond so, and returns the requests. */
function respond(make: () => Response | Promise<Response>): [string, RequestInit][] {
  const sent: [string, RequestInit][] = []
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
    sent.push([path, init])
    return Promise.resolve().then(make)
  })
  return sent
}

test('the token goes into a header, never into a URL', async () => {
  const body = { zones: [], names: [], next: null, isWhole: true }
  const sent = respond(() => Response.json(body))
  const session = { token: 'kdt_ab_cd' }
  await readZones(session)
  await readNames({ under: 'a&b.test', search: '' }, session)
  await explain('a.test', 'A', session)
  await readKitFile('windows.ps1', session)
  await sendQuery(new Uint8Array(12), session)
  assert.deepEqual(
    sent.map(([path]) => path),
    [
      '/v1/names',
      '/v1/names?under=a%26b.test&search=',
      '/v1/explain?name=a.test&type=A',
      '/kit/windows.ps1',
      '/dns-query',
    ],
  )
  for (const [, { headers, referrerPolicy }] of sent) {
    assert.equal(new Headers(headers).get('authorization'), 'Bearer kdt_ab_cd')
    assert.equal(referrerPolicy, 'no-referrer')
  }
})

test('without a token no header is sent', async () => {
  const sent = respond(() => Response.json({ zones: [] }))
  await readZones({ token: '' })
  assert.equal(new Headers(sent[0]?.[1].headers).has('authorization'), false)
})

test('each failure has its kind and a sentence', async () => {
  const error = (status: number, headers = {}): Response =>
    Response.json({ error: { code: 'x', message: 'Because' } }, { status, headers })
  const cases: [() => Response | Promise<Response>, string, RegExp][] = [
    [() => error(401), 'denied', /^Because\.$/],
    [() => error(403), 'forbidden', /^Because\.$/],
    [() => error(429, { 'retry-after': '7' }), 'refused', /7 seconds/],
    [() => error(500), 'refused', /Because/],
    [() => error(503), 'away', /Because/],
    [() => new Response('<html>', { status: 502 }), 'away', /The request failed/],
    [() => new Response('<html>'), 'refused', /not what the page expects/],
    [() => Response.json({ zones: 1 }), 'refused', /not what the page expects/],
    [() => Promise.reject(new TypeError('fetch failed')), 'away', /does not respond/],
  ]
  for (const [make, kind, message] of cases) {
    respond(make)
    await assert.rejects(readZones({ token: '' }), (thrown) => {
      assert.ok(thrown instanceof GatewayFailure)
      assert.equal(thrown.failure.kind, kind)
      assert.match(thrown.failure.message, message)
      return true
    })
  }
})

test('any text in the box is a query or a sentence', () => {
  assert.ok(readQuery('web.shop.test', 'SRV') instanceof Uint8Array)
  assert.ok(readQuery('a\\000\\255.test', 'A') instanceof Uint8Array)
  for (const name of [
    'a..b',
    'größe',
    '\u202e',
    `${'x'.repeat(64)}.test`,
    '\\999',
    'x.'.repeat(130),
  ]) {
    assert.match(String(readQuery(name, 'A')), /^Not a domain name/, name)
  }
  assert.match(String(readQuery('a.test', 'NOPE')), /^Not a type/)
})
