import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EMPTY } from '../../src/dns/bytes.ts'
import { parseQuery, Query } from '../../src/dns/query.ts'
import type { Client, ServerAddress } from '../../src/plugins/plugin.ts'
import { RequestCounts, serverIndex } from '../../src/plugins/request-counts.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { parseQuestion } from '../message-text.ts'

const CLIENT: Client = { address: '192.0.2.1', port: 1, transport: 'udp' }

describe('RequestCounts', () => {
  test('counts no answer as one without error and without octets', () => {
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
