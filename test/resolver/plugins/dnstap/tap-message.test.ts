import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { TAP, writeTap } from '../../../../src/resolver/plugins/dnstap/tap-message.ts'
import { readTap } from './tap-text.ts'

const SOURCE = {
  identity: new TextEncoder().encode('ns1'),
  version: new TextEncoder().encode('v1'),
  extra: new Uint8Array(0),
}

describe('writeTap', () => {
  test('writes every field', () => {
    const frame = writeTap(
      { ...SOURCE, extra: new TextEncoder().encode('more') },
      {
        type: TAP.CLIENT_RESPONSE,
        isUdp: true,
        from: { address: '192.0.2.1', port: 4242 },
        to: { address: '192.0.2.53', port: 53 },
        queryMs: 1_700_000_000_000.25,
        responseMs: 1_700_000_001_500,
        query: Uint8Array.of(1, 2),
        response: Uint8Array.of(3),
      },
    )
    assert.deepEqual(readTap(frame), {
      identity: 'ns1',
      version: 'v1',
      extra: 'more',
      type: 6,
      family: 1,
      protocol: 1,
      query_address: '192.0.2.1',
      response_address: '192.0.2.53',
      query_port: 4242,
      response_port: 53,
      query_time_sec: 1_700_000_000,
      query_time_nsec: 250_000,
      query_message: '0102',
      response_time_sec: 1_700_000_001,
      response_time_nsec: 500_000_000,
      response_message: '03',
    })
  })

  const families: [address: string, family: number, written: string | undefined][] = [
    ['2001:db8::1', 2, '2001:db8::1'],
    ['::ffff:192.0.2.1', 1, '192.0.2.1'],
    ['fe80::1%eth0', 2, 'fe80::1'],
    ['dns.example.org', 1, undefined],
  ]
  for (const [address, family, written] of families) {
    test(`writes ${address}`, () => {
      const to = { address, port: 853 }
      const read = readTap(
        writeTap(SOURCE, { type: TAP.FORWARDER_QUERY, isUdp: false, to, queryMs: 0 }),
      )
      assert.deepEqual([read.family, read.response_address, read.protocol], [family, written, 2])
    })
  }

  test('has room for the largest messages', () => {
    const bytes = fc.uint8Array({ maxLength: 65_535, size: 'max' })
    fc.assert(
      fc.property(bytes, bytes, fc.nat(), (query, response, queryMs) => {
        const known = { type: TAP.CLIENT_RESPONSE, isUdp: true, queryMs, query, response }
        const read = readTap(writeTap({ ...SOURCE, extra: new Uint8Array(9999) }, known))
        assert.equal(read.query_message, Buffer.from(query).toString('hex'))
        assert.equal(read.response_message, Buffer.from(response).toString('hex'))
        assert.equal(String(read.extra).length, 4096)
      }),
      { numRuns: 20 },
    )
  })
})
