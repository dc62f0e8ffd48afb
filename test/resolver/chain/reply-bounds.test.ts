import assert from 'node:assert/strict'
import { test } from 'vitest'
import { Query } from '../../../src/dns/wire/query.ts'
import {
  advertisedTo,
  bytesFor,
  paddingBlock,
  udpBytesFor,
} from '../../../src/resolver/chain/reply-bounds.ts'

test('a UDP reply has what the client takes, from 512 to 1232 bytes', () => {
  const query = new Query()
  for (const [udpBytes, expected] of [
    [0, 512],
    [511, 512],
    [1232, 1232],
    [4096, 1232],
    [65_535, 1232],
  ] as const) {
    query.udpBytes = udpBytes
    assert.equal(udpBytesFor(query), expected)
  }
})

test('we advertise our own size, but to a client that sends EDNS in an odd form', () => {
  const query = new Query()
  query.udpBytes = 1280
  assert.equal(advertisedTo(query), 1232)
  query.isOptOdd = true
  assert.equal(advertisedTo(query), 1280)
})

test('only what is encrypted is padded', () => {
  const blocks = (['udp', 'tcp', 'tls', 'https'] as const).map((transport) =>
    paddingBlock({ address: '192.0.2.1', port: 1, transport }),
  )
  assert.deepEqual(blocks, [0, 0, 468, 468])
})

test('without EDNS a client gets what it takes, where that is known', () => {
  const query = new Query()
  const client = { address: '192.0.2.1', port: 1, transport: 'https' } as const
  assert.equal(bytesFor(query, client), 65_535)
  assert.equal(bytesFor(query, { ...client, bytesMax: 2999 }), 2999)
  query.hasEdns = true
  assert.equal(bytesFor(query, { ...client, bytesMax: 2999 }), 65_535)
})
