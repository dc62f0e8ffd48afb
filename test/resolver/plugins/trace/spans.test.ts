import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { SpanClock } from '../../../../src/dns/telemetry/span.ts'
import { RequestSpans } from '../../../../src/resolver/plugins/trace/spans.ts'

type Clock = SpanClock & { nowMs: number }

function clock(): Clock {
  let drawn = 0
  const self: Clock = {
    nowMs: 1000,
    now: () => self.nowMs,
    elapsed: () => self.nowMs - 400,
    random16: () => ++drawn,
  }
  return self
}

describe('RequestSpans', () => {
  test('nests what begins before the other ends', () => {
    const time = clock()
    const spans = new RequestSpans(time)
    time.nowMs = 1001
    const endA = spans.begin({ name: 'a' })
    time.nowMs = 1002
    const endB = spans.begin({ name: 'b' })
    time.nowMs = 1005
    endB()
    const endC = spans.begin({ name: 'c' })
    endC()
    endA()
    const list = spans.finish({ tag: 'value' })
    const traceId = '00010002000300040005000600070008'
    const [whole, b, c, a] = list
    const id = '0009000a000b000c'
    assert.deepEqual(whole, {
      traceId,
      id,
      parentId: undefined,
      name: 'servedns',
      startMs: 1000,
      durationMs: 5,
      tags: { tag: 'value' },
    })
    assert.deepEqual(
      [a, b, c].map((span) => [span?.name, span?.parentId, span?.startMs, span?.durationMs]),
      [
        ['a', id, 1001, 4],
        ['b', a?.id, 1002, 3],
        ['c', a?.id, 1005, 0],
      ],
    )
    assert.ok(list.every((span) => span.traceId === traceId))
  })

  test('has a bound', () => {
    const spans = new RequestSpans(clock())
    for (let i = 0; i < 1000; i++) spans.begin({ name: `plugin ${i}` })()
    assert.equal(spans.finish({}).length, 64)
  })
})
