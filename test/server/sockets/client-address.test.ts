import assert from 'node:assert/strict'
import { test } from 'vitest'
import { ClientAddresses } from '../../../src/server/sockets/client-address.ts'

/** Returns the words of a `struct sockaddr_in6`, or `sockaddr_in` for an address of four bytes. */
function socketAddress(bytes: readonly number[], zone = 0): Int32Array {
  const data = new Uint8Array(32)
  const isIPv4 = bytes.length === 4
  data[0] = isIPv4 ? 2 : 10
  data.set(bytes, isIPv4 ? 4 : 8)
  data[24] = zone
  return new Int32Array(data.buffer)
}

const LINK_LOCAL = [0xfe, 0x80, ...Array.from({ length: 13 }, () => 0), 1]

const CASES: { name: string; words: Int32Array; text: string }[] = [
  { name: 'IPv4', words: socketAddress([10, 1, 2, 3]), text: '10.1.2.3' },
  {
    name: 'IPv6',
    words: socketAddress([0x20, 1, 0xd, 0xb8, ...LINK_LOCAL.slice(4)]),
    text: '2001:db8::1',
  },
  { name: 'IPv6 of a link', words: socketAddress(LINK_LOCAL, 3), text: 'fe80::1%3' },
  { name: 'the same on another link', words: socketAddress(LINK_LOCAL, 4), text: 'fe80::1%4' },
]

for (const { name, words, text } of CASES) {
  test(`formats ${name}`, () => {
    const addresses = new ClientAddresses()
    assert.equal(addresses.format(words, 0), text)
    assert.equal(addresses.format(words, 0), text, 'a second time')
  })
}

test('never confuses addresses that share a cache slot', () => {
  const addresses = new ClientAddresses()
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 5000; i++) {
      const bytes = [10, 0, i >> 8, i & 0xff]
      assert.equal(addresses.format(socketAddress(bytes), 0), bytes.join('.'))
    }
  }
})
