import assert from 'node:assert/strict'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Hono } from 'hono'
import { afterAll, describe, test } from 'vitest'
import { startGateway } from '../../../build/local-gateway.ts'
import { encodeBase64url } from '../../../src/dns/bytes/base64url.ts'
import { readUint16 } from '../../../src/dns/bytes/bytes.ts'
import { formatName } from '../../../src/dns/names/name.ts'
import { parseResponse } from '../../../src/dns/wire/message.ts'
import { createDohApp } from '../../../src/gateway/doh/app.ts'
import { formatJsonReply } from '../../../src/gateway/doh/json-reply.ts'
import { wireName } from '../../generators.ts'
import { CACHING, FORMS, MESSAGES, PARAMETERS, RCODES, ROUTES } from './app-cases.ts'
import { checkAlways, checkCase, textOf } from './check-case.ts'
import {
  type Ask,
  fakeApp,
  type Got,
  pathOf,
  question,
  replyOf,
  sendDirectly,
  sendOverHttp,
  sendTo,
} from './replies.ts'

const WIRE = 'application/dns-message'
/** The app in workerd: one for all requests. */
const worker = startGateway({
  port: 0,
  variables: {},
  entry: join(import.meta.dirname, 'doh-worker.ts'),
})
afterAll(async () => (await worker).stop())
const SENDERS: readonly { how: string; send: (app: Hono, ask: Ask) => Promise<Got> }[] = [
  { how: 'within the process', send: sendDirectly },
  { how: 'over HTTP', send: sendOverHttp },
  {
    how: 'in workerd',
    send: async (_, ask) => sendTo(Number(new URL((await worker).url).port), ask),
  },
]

for (const { how, send } of SENDERS) {
  const tables = { ROUTES, FORMS, MESSAGES, RCODES, CACHING, PARAMETERS }
  for (const [title, rows] of Object.entries(tables)) {
    describe(`${title.toLowerCase()} ${how}`, () => {
      for (const row of rows) {
        test(row.name, async () => {
          checkCase(await send(fakeApp(), row), row)
        })
      }
    })
  }

  describe(`rules across requests ${how}`, () => {
    const paths = [
      pathOf(question('a.example.org')),
      pathOf(question('missing.example.org')),
      '/resolve?name=many.example.org',
      '/dns-query?dns=AAAA',
      '/nowhere',
    ]
    for (const path of paths) {
      test(`HEAD is GET without the body: ${path}`, async () => {
        const whole = await send(fakeApp(), { path })
        const head = await send(fakeApp(), { path, method: 'HEAD' })
        for (const { headers } of [whole, head]) {
          // The clock and the connection are not the app's.
          for (const name of ['date', 'connection', 'keep-alive']) headers.delete(name)
          // Without a length from the app, Node sends a body by chunks and HEAD has none.
          if (whole.status !== 200) headers.delete('content-length')
          headers.delete('transfer-encoding')
        }
        assert.equal(head.status, whole.status)
        assert.deepEqual([...head.headers], [...whole.headers])
        assert.ok(whole.body.length > 0)
        assert.equal(head.body.length, 0)
      })
    }

    test('gives GET and POST the same bytes', async () => {
      const body = question('many.example.org', { id: 0x1234, udpBytes: 1232 })
      const headers = { 'content-type': WIRE }
      const byGet = await send(fakeApp(), { path: pathOf(body) })
      const byPost = await send(fakeApp(), { method: 'POST', path: '/dns-query', headers, body })
      assert.deepEqual(byPost.body, byGet.body)
      assert.ok(byGet.body.length > body.length)
    })

    test('gives each of many queries its own ID back', async () => {
      const app = fakeApp()
      const ids = Array.from({ length: 20 }, (_, i) => i * 3277)
      const got = await Promise.all(
        ids.map((id) => send(app, { path: pathOf(question('a.example.org', { id })) })),
      )
      assert.deepEqual(
        got.map(({ body }) => readUint16(body, 0)),
        ids,
      )
    })

    test('leaves a large answer whole, whatever UDP size the query says', async () => {
      const path = pathOf(question('large.example.org', { udpBytes: 512 }))
      const { body } = await send(fakeApp(), { path })
      assert.equal(parseResponse(body)?.answer.length, 2300)
      assert.equal(readUint16(body, 2) & 0x0200, 0)
    })

    test('keeps the inside to itself when answering fails', async () => {
      const got = await send(fakeApp(), { path: pathOf(question('broken.example.org')) })
      assert.equal(got.status, 500)
      checkAlways(got)
      assert.doesNotMatch(textOf(got), /secret/)
    })

    test('gives nothing of a wrong request back', async () => {
      const got = await send(fakeApp(), { path: '/resolve?name=%3Cscript%3E..x&type=%3Cscript%3E' })
      assert.equal(got.status, 400)
      assert.doesNotMatch(textOf(got), /</)
    })
  })
}

test('TRACE, which only a server can be sent, is refused', async () => {
  const got = await sendOverHttp(fakeApp(), { path: '/dns-query', method: 'TRACE' })
  assert.equal(got.status, 405)
  assert.equal(got.headers.get('allow'), 'GET, HEAD, POST')
})

describe('the examples of RFC 8484 §4.1.1', () => {
  const long =
    'AAABAAABAAAAAAAAAWE-NjJjaGFyYWN0ZXJsYWJlbC1tYWtlcy1iYXNlNjR1cmwtZGlzdGluY3QtZnJvbS1z' +
    'dGFuZGFyZC1iYXNlNjQHZXhhbXBsZQNjb20AAAEAAQ'
  const cases = [
    {
      size: 33,
      dns: 'AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB',
      asks: 'www.example.com.',
    },
    {
      size: 94,
      dns: long,
      asks: 'a.62characterlabel-makes-base64url-distinct-from-standard-base64.example.com.',
    },
  ]
  for (const { size, dns, asks } of cases) {
    test(`reads the query of ${size} bytes`, async () => {
      const seen: Uint8Array[] = []
      const app = createDohApp({
        isPrivate: () => false,
        answer: (message) => {
          seen.push(message)
          return replyOf(message, {})
        },
      })
      const { status, body } = await sendDirectly(app, { path: `/dns-query?dns=${dns}` })
      assert.equal(status, 200)
      assert.deepEqual(
        seen.map((message) => message.length),
        [size],
      )
      assert.deepEqual(seen.map(encodeBase64url), [dns])
      const name = parseResponse(body)?.question?.name
      assert.equal(name && formatName(name), asks)
    })
  }
})

describe('bodies without end', () => {
  test('are read no further than they may be long', async () => {
    let pulls = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulls++
        controller.enqueue(new Uint8Array(16_384))
      },
    })
    const headers = { 'content-type': WIRE }
    const init = { method: 'POST', headers, body, duplex: 'half' } as const
    const response = await fakeApp().request('/dns-query', init)
    assert.equal(response.status, 413)
    assert.ok(pulls < 10, `${pulls} chunks were read`)
  })
})

describe('a parameter that is too long', () => {
  test('is refused over 87,380 characters, which are 65,535 bytes', async () => {
    const path = (characters: number): string => `/dns-query?dns=${'A'.repeat(characters)}`
    const fits = await sendDirectly(fakeApp(), { path: path(87_380) })
    assert.equal(fits.status, 200)
    const long = await sendDirectly(fakeApp(), { path: path(87_381) })
    assert.equal(long.status, 414)
    assert.equal(JSON.parse(textOf(long)).error.code, 'uri_too_long')
  })
})

describe('the two forms of one answer', () => {
  test('JSON is the rendering of the message', async () => {
    const property = fc.asyncProperty(
      wireName(),
      fc.integer({ min: 1, max: 65_535 }),
      fc.boolean(),
      fc.boolean(),
      async (name, type, isDo, isCd) => {
        const app = createDohApp({ isPrivate: () => false, answer: echoAddress })
        const parameters = new URLSearchParams({
          name: formatName(name),
          type: String(type),
          do: String(isDo),
          cd: String(isCd),
        })
        const byText = await sendDirectly(app, { path: `/resolve?${parameters}` })
        const byWire = await sendDirectly(app, {
          path: `/resolve?${parameters}&ct=application%2Fdns-message`,
        })
        assert.deepEqual([byText.status, byWire.status], [200, 200])
        assert.equal(textOf(byText), formatJsonReply(byWire.body))
        assert.equal(byText.headers.get('cache-control'), byWire.headers.get('cache-control'))
        const { CD, Question } = JSON.parse(textOf(byText))
        assert.deepEqual(Question, [{ name: formatName(name), type }])
        assert.equal(CD, isCd)
      },
    )
    await fc.assert(property, { numRuns: 60 })
  })
})

/** The question's own name with an address. */
function echoAddress(message: Uint8Array): Uint8Array {
  const name = formatName(message, 12)
  const answer = name === '.' ? [] : [`${name} 300 A 192.0.2.1`]
  return replyOf(message, { answer })
}
