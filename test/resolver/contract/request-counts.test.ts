import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { EMPTY } from '../../../src/dns/bytes/bytes.ts'
import { Metrics } from '../../../src/dns/telemetry/metrics.ts'
import { parseQuery, Query } from '../../../src/dns/wire/query.ts'
import type { Client } from '../../../src/resolver/contract/client.ts'
import { RequestCounts, serverIndex } from '../../../src/resolver/contract/request-counts.ts'
import type { ServerAddress } from '../../../src/resolver/contract/server-address.ts'
import { parseQuestion } from '../../message-text.ts'

const CLIENT: Client = { address: '192.0.2.1', port: 1, transport: 'udp' }

describe('RequestCounts', () => {
  test('counts no answer as one without error and without bytes', () => {
    const metrics = new Metrics()
    const query = parseQuery(parseQuestion('www.example.org A').message)
    assert.ok(query instanceof Query)
    const seen = { query, client: CLIENT, reply: EMPTY, replyBytes: 0, durationMs: 1 }
    new RequestCounts(metrics, ['dns://:53', '.', '']).count({ ...seen, plugin: 'acl' })
    const lines = metrics.format().split('\n')
    const labels = 'server="dns://:53",zone=".",view=""'
    for (const line of [
      `coredns_dns_responses_total{${labels},rcode="NOERROR",plugin="acl"} 1`,
      `coredns_dns_response_size_bytes_bucket{${labels},proto="udp",le="0"} 1`,
    ]) {
      assert.ok(lines.includes(line), line)
    }
  })

  test('has no series before the first request', () => {
    const metrics = new Metrics()
    new RequestCounts(metrics, ['dns://:53', '.', ''])
    assert.equal(metrics.format(), '')
  })
})

describe('what is counted of sizes, times and types', () => {
  const labels = ['dns://:53', '.', '']
  const { message } = parseQuestion('www.example.org A')

  /** The text of metrics after one request. */
  function textOf(request: {
    readonly type?: number
    readonly bytes?: number
    readonly replyBytes?: number
    readonly durationMs?: number
    readonly address?: string
  }): string {
    const { type = 1, bytes = 33, replyBytes = 49, durationMs = 1, address = '192.0.2.1' } = request
    const metrics = new Metrics()
    const query = parseQuery(message)
    assert.ok(query instanceof Query)
    query.type = type
    query.size = bytes
    const client = { ...CLIENT, address }
    const seen = { query, client, reply: message, replyBytes, durationMs, plugin: 'kubernetes' }
    new RequestCounts(metrics, labels).count(seen)
    return metrics.format()
  }

  /** The least bound with a count, of a histogram. */
  function firstBound(text: string, histogram: string): string | undefined {
    const lines = text.split('\n').filter((line) => line.startsWith(`${histogram}_bucket`))
    return lines.find((line) => line.endsWith(' 1'))?.match(/le="(.*)"/)?.[1]
  }

  const sizes: readonly [bytes: number, bound: string][] = [
    [0, '0'],
    [100, '100'],
    [101, '200'],
    [511, '511'],
    [512, '1023'],
    [1023, '1023'],
    [1024, '2047'],
    [8291, '8291'],
    [65_535, '+Inf'],
  ]
  for (const [bytes, bound] of sizes) {
    test(`${bytes} bytes are counted up to ${bound}`, () => {
      const request = firstBound(textOf({ bytes }), 'coredns_dns_request_size_bytes')
      const response = firstBound(textOf({ replyBytes: bytes }), 'coredns_dns_response_size_bytes')
      assert.deepEqual([request, response], [bound, bound])
    })
  }

  const times: readonly [durationMs: number, bound: string][] = [
    [0, '0.00025'],
    [0.25, '0.00025'],
    [0.26, '0.0005'],
    [9000, '+Inf'],
  ]
  for (const [durationMs, bound] of times) {
    test(`${durationMs} ms are counted up to ${bound} s`, () => {
      assert.equal(
        firstBound(textOf({ durationMs }), 'coredns_dns_request_duration_seconds'),
        bound,
      )
    })
  }

  const types: readonly [type: number, text: string][] = [
    [1, 'A'],
    [255, 'ANY'],
    [33, 'SRV'],
    [16, 'TXT'],
    [99, 'other'],
    [0, 'other'],
    [511, 'other'],
    [512, 'other'],
    [65_535, 'other'],
  ]
  for (const [type, text] of types) {
    test(`type ${type} is counted as ${text}, by the family of the client`, () => {
      assert.match(textOf({ type }), new RegExp(`family="1",type="${text}"} 1`))
      const other = textOf({ type, address: '2001:db8::1' })
      assert.match(other, new RegExp(`family="2",type="${text}"} 1`))
    })
  }
})

describe('serverIndex', () => {
  const servers = ['192.0.2.53', '::1'].map((address): ServerAddress => ({ name: '', address }))
  const cases: readonly [address: string | undefined, index: number][] = [
    ['192.0.2.53', 0],
    ['::1', 1],
    ['192.0.2.54', 0],
    [undefined, 0],
  ]
  for (const [address, index] of cases) {
    test(`is ${index} for ${address ?? 'an address that nobody knows'}`, () => {
      const at = address === undefined ? {} : { localAddress: address }
      assert.equal(serverIndex(servers, { ...CLIENT, ...at }), index)
    })
  }
})
