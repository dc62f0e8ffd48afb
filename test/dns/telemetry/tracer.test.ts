import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { Span } from '../../../src/dns/telemetry/span.ts'
import { formatTraceparent, parseTraceparent, Tracer } from '../../../src/dns/telemetry/tracer.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'

describe('a tracer', () => {
  test('reports what began and ended, with its parent', () => {
    const spans: Span[] = []
    let ms = 1000
    const clock = { now: () => ms, elapsed: () => ms, random16: () => 0xab }
    const tracer = new Tracer({ add: (some) => spans.push(...some), stop: () => undefined }, clock)
    const parent = { traceId: TRACE, id: PARENT }
    const open = tracer.begin('ingest', { parent, kind: 'server', tags: { a: '1' } })
    assert.equal(open.traceId, TRACE)
    assert.deepEqual(spans, [])
    ms += 5
    open.end({ b: '2' })
    tracer.begin('publish').end()
    const id = '00ab'.repeat(4)
    const ended = { id, startMs: 1000, durationMs: 5, tags: { a: '1', b: '2' } }
    const ingest = { traceId: TRACE, parentId: PARENT, name: 'ingest', kind: 'server' }
    const root = { traceId: '00ab'.repeat(8), parentId: undefined, name: 'publish' }
    const now = { id, startMs: 1005, durationMs: 0, tags: {}, kind: 'internal' }
    assert.deepEqual(spans, [
      { ...ended, ...ingest },
      { ...now, ...root },
    ])
  })
})

describe('traceparent', () => {
  const context = { traceId: TRACE, id: PARENT }
  const cases: readonly (readonly [string | undefined, typeof context | undefined])[] = [
    [`00-${TRACE}-${PARENT}-01`, context],
    [`00-${TRACE}-${PARENT}-03`, context],
    // A later version may have more.
    [`01-${TRACE}-${PARENT}-01-more`, context],
    // Its sender does not keep the trace.
    [`00-${TRACE}-${PARENT}-00`, undefined],
    [`ff-${TRACE}-${PARENT}-01`, undefined],
    [`00-${'0'.repeat(32)}-${PARENT}-01`, undefined],
    [`00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
    [`00-${TRACE.toUpperCase()}-${PARENT}-01`, undefined],
    [`00-${TRACE}-${PARENT}-011`, undefined],
    [undefined, undefined],
    ['', undefined],
  ]
  for (const [text, wanted] of cases) {
    test(`${text} is ${wanted === undefined ? 'none' : 'read'}`, () => {
      assert.deepEqual(parseTraceparent(text), wanted)
    })
  }

  test('is read as it is written', () => {
    assert.deepEqual(parseTraceparent(formatTraceparent(context)), context)
  })
})
