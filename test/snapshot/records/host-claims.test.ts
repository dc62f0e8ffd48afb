import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { concatBytes, EMPTY } from '../../../src/dns/bytes/bytes.ts'
import { labelOffsets, parseRelativeName } from '../../../src/dns/names/name.ts'
import {
  CLAIMS_MAX,
  HOST_BYTES_MAX,
  hostKey,
  readClaim,
  readHostKey,
  writeClaim,
} from '../../../src/snapshot/records/host-claims.ts'

const labels = (text: string): Uint8Array => parseRelativeName(text) ?? EMPTY
/** A name of so many bytes without the root. */
const long = (bytes: number): Uint8Array =>
  concatBytes(
    ...Array.from({ length: Math.floor(bytes / 2) - 1 }, () => Uint8Array.of(1, 0x78)),
    Uint8Array.of(1 + (bytes % 2), ...Array.from({ length: 1 + (bytes % 2) }, () => 0x79)),
  )
/** Labels of which the key is exactly full, one byte under and one over. */
const SIZES = [1, 2, 61, 62, 63, 124, 125, 126, 187, 188, 189, 248, HOST_BYTES_MAX]

describe('hostKey', () => {
  test('is a label with the rank and the hostname', () => {
    const key = hostKey(labels('web.test'), 2)
    const expected = concatBytes(Uint8Array.of(10, 0x82), labels('web.test'))
    assert.deepEqual(key, expected)
  })

  for (const size of SIZES.filter((one) => one > 1)) {
    test(`holds a hostname of ${size} bytes, in labels that fit`, () => {
      const name = long(size)
      assert.equal(name.length, size)
      const key = hostKey(name, 7)
      assert.ok(key && key.length <= 254)
      const offsets = labelOffsets(key)
      const ends = offsets.map((at) => at + (key[at] ?? 0) + 1)
      assert.deepEqual(ends, [...offsets.slice(1), key.length])
      assert.ok(offsets.every((at) => (key[at] ?? 64) < 64))
      assert.deepEqual(readHostKey(key), { labels: name, rank: 7 })
    })
  }

  test('differs for each rank, and is never a name above another', () => {
    const keys = Array.from({ length: CLAIMS_MAX }, (_, rank) => hostKey(labels('a.test'), rank))
    assert.equal(new Set(keys.map(String)).size, CLAIMS_MAX)
    const deep = hostKey(long(HOST_BYTES_MAX), 0) ?? EMPTY
    for (const at of labelOffsets(deep).slice(1)) assert.ok((deep[at + 1] ?? 0x80) < 0x80)
  })

  test('is missing for a hostname that is too long, or not ASCII', () => {
    assert.equal(hostKey(long(HOST_BYTES_MAX + 1), 0), undefined)
    assert.equal(hostKey(Uint8Array.of(1, 0x80), 0), undefined)
  })
})

test('a claim is the text of its object', () => {
  const { bytes } = writeClaim('Ingress shop/web')
  assert.equal(readClaim(bytes), 'Ingress shop/web')
})
