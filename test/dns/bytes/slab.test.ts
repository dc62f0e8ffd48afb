import { strict as assert } from 'node:assert'
import { test } from 'vitest'
import { bytesOfSlab } from '../../../src/dns/bytes/slab.ts'

test('arrays of a slab do not overlap, and are zero', () => {
  // Other tests of this thread may have written to the slab in use.
  while (bytesOfSlab(512).byteOffset !== 0);
  const arrays = Array.from({ length: 3000 }, (_, i) => bytesOfSlab((i * 7) % 600))
  for (const [i, bytes] of arrays.entries()) {
    assert.equal(bytes.length, (i * 7) % 600)
    assert.ok(bytes.every((byte) => byte === 0))
    bytes.fill(255)
  }
  // An overlap would make fewer bytes of 255 than were written.
  const memory = [...new Set(arrays.map(({ buffer }) => buffer))]
  const filled = memory.flatMap((one) => [...new Uint8Array(one)].filter((byte) => byte === 255))
  assert.equal(
    filled.length,
    arrays.reduce((sum, { length }) => sum + length, 0),
  )
})

test('small arrays share memory, large ones have their own', () => {
  const small = Array.from({ length: 100 }, () => bytesOfSlab(60))
  assert.ok(new Set(small.map(({ buffer }) => buffer)).size <= 3)
  assert.equal(bytesOfSlab(513).buffer.byteLength, 513)
})
