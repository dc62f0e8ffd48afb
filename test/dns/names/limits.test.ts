import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  HEADER_BYTES,
  LABEL_BYTES_MAX,
  LABELS_MAX,
  MESSAGE_BYTES_MAX,
  NAME_BYTES_MAX,
  POINTER_OFFSET_MAX,
  TTL_SECONDS_MAX,
  UDP_BYTES_ADVERTISED,
  UDP_BYTES_MIN,
} from '../../../src/dns/names/limits.ts'
import { labelOffsets, parseName } from '../../../src/dns/names/name.ts'
import { encodeMessage } from '../wire/oracle.ts'

const IPV6_MTU_MIN = 1280
const IPV6_HEADER_BYTES = 40
const UDP_HEADER_BYTES = 8

describe('limits', () => {
  test('a message without anything is its header', () => {
    assert.equal(encodeMessage({ type: 'query' }).length, HEADER_BYTES)
  })

  test('the longest label is one that parseName takes, and no longer one is', () => {
    assert.ok(parseName('a'.repeat(LABEL_BYTES_MAX)))
    assert.equal(parseName('a'.repeat(LABEL_BYTES_MAX + 1)), undefined)
  })

  test('a label length leaves the two bits free that mark a pointer (RFC 1035 §4.1.4)', () => {
    assert.equal(LABEL_BYTES_MAX, 0xff >> 2)
    assert.equal(POINTER_OFFSET_MAX, 0xffff >> 2)
  })

  test('a name of the most labels is as long as a name can be', () => {
    const longest = parseName(Array.from({ length: LABELS_MAX }, () => 'a').join('.'))
    assert.equal(longest?.length, NAME_BYTES_MAX)
    assert.equal(longest && labelOffsets(longest).length, LABELS_MAX)
  })

  test('a message is as long as its length before it on a stream can say', () => {
    assert.equal(MESSAGE_BYTES_MAX, 2 ** 16 - 1)
  })

  test('the UDP size advertised fits the least IPv6 packet, and is over the least UDP size', () => {
    assert.equal(UDP_BYTES_ADVERTISED, IPV6_MTU_MIN - IPV6_HEADER_BYTES - UDP_HEADER_BYTES)
    assert.ok(UDP_BYTES_MIN < UDP_BYTES_ADVERTISED)
    assert.equal(UDP_BYTES_MIN, 512)
  })

  test('a time to live has 31 bits (RFC 2181 §8)', () => {
    assert.equal(TTL_SECONDS_MAX, 2 ** 31 - 1)
  })
})
