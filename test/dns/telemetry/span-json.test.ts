import assert from 'node:assert/strict'
import { test } from 'vitest'
import { type Span, writeSpans } from '../../../src/dns/telemetry/span.ts'

const TRACE_ID = '0'.repeat(31).concat('1')
const SPANS: readonly Span[] = [
  {
    traceId: TRACE_ID,
    id: '000000000000000a',
    parentId: undefined,
    name: 'servedns',
    startMs: 1_700_000_000_000.25,
    durationMs: 1.5,
    tags: { 'coredns.io/type': 'A', error: 'no answer' },
  },
  {
    traceId: TRACE_ID,
    id: '000000000000000b',
    parentId: '000000000000000a',
    name: 'forward',
    startMs: 1_700_000_000_001,
    durationMs: 0,
    tags: {},
  },
]

test('spans for Zipkin are in microseconds', () => {
  assert.deepEqual(JSON.parse(writeSpans('zipkin', 'dns', SPANS)), [
    {
      traceId: TRACE_ID,
      id: '000000000000000a',
      kind: 'SERVER',
      name: 'servedns',
      timestamp: 1_700_000_000_000_250,
      duration: 1500,
      localEndpoint: { serviceName: 'dns' },
      tags: { 'coredns.io/type': 'A', error: 'no answer' },
    },
    {
      traceId: TRACE_ID,
      id: '000000000000000b',
      parentId: '000000000000000a',
      name: 'forward',
      timestamp: 1_700_000_000_001_000,
      duration: 1,
      localEndpoint: { serviceName: 'dns' },
      tags: {},
    },
  ])
})

test('spans for OpenTelemetry are in nanoseconds, as strings', () => {
  const attribute = (key: string, stringValue: string): unknown => ({ key, value: { stringValue } })
  assert.deepEqual(JSON.parse(writeSpans('otlp', 'dns', SPANS)), {
    resourceSpans: [
      {
        resource: { attributes: [attribute('service.name', 'dns')] },
        scopeSpans: [
          {
            scope: { name: 'kubedoh' },
            spans: [
              {
                traceId: TRACE_ID,
                spanId: '000000000000000a',
                name: 'servedns',
                kind: 2,
                startTimeUnixNano: '1700000000000250000',
                endTimeUnixNano: '1700000000001750000',
                attributes: [attribute('coredns.io/type', 'A')],
                status: { code: 2, message: 'no answer' },
              },
              {
                traceId: TRACE_ID,
                spanId: '000000000000000b',
                parentSpanId: '000000000000000a',
                name: 'forward',
                kind: 1,
                startTimeUnixNano: '1700000000001000000',
                endTimeUnixNano: '1700000000001000000',
                attributes: [],
              },
            ],
          },
        ],
      },
    ],
  })
})
