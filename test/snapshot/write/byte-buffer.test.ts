import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatHex } from '../../../src/dns/bytes/bytes.ts'
import { SHARD_BYTES_MAX } from '../../../src/snapshot/format/layout.ts'
import { ByteBuffer } from '../../../src/snapshot/write/byte-buffer.ts'

function contents({ bytes, size }: ByteBuffer): string {
  return formatHex(bytes.subarray(0, size))
}

describe('ByteBuffer', () => {
  const cases: { name: string; write: (buffer: ByteBuffer) => void; hex: string }[] = [
    { name: 'appends 16 bits, little end first', write: (b) => b.append16(0xff01), hex: '01ff' },
    {
      name: 'appends 32 bits, little end first',
      write: (b) => b.append32(0xff000001),
      hex: '010000ff',
    },
    { name: 'appends bytes', write: (b) => b.append(Uint8Array.of(1, 2, 3)), hex: '010203' },
    { name: 'makes room of zeros', write: (b) => b.reserve(3), hex: '000000' },
    {
      name: 'puts numbers where room was made',
      write: (b) => {
        const start = b.reserve(8)
        b.append(Uint8Array.of(9))
        b.put16(start + 1, 0x0102)
        b.put32(start + 4, 0x03040506)
      },
      hex: '000201000605040309',
    },
    {
      name: 'fills up to a multiple of four',
      write: (b) => {
        b.append(Uint8Array.of(1, 2, 3, 4, 5))
        b.align()
      },
      hex: '0102030405000000',
    },
    {
      name: 'adds nothing at a multiple of four',
      write: (b) => {
        b.append32(1)
        b.align()
      },
      hex: '01000000',
    },
    {
      name: 'puts bytes where room was made',
      write: (b) => {
        const start = b.reserve(4)
        b.put(start + 1, Uint8Array.of(1, 2))
      },
      hex: '00010200',
    },
  ]
  for (const { name, write, hex } of cases) {
    test(name, () => {
      const buffer = new ByteBuffer()
      write(buffer)
      assert.equal(contents(buffer), hex)
    })
  }

  test('returns where the room begins', () => {
    const buffer = new ByteBuffer()
    assert.equal(buffer.reserve(5), 0)
    assert.equal(buffer.reserve(1), 5)
  })

  test('keeps its bytes when it grows, by one byte or by many', () => {
    for (const count of [1, 1_000_000]) {
      const buffer = new ByteBuffer()
      buffer.append32(0x04030201)
      buffer.reserve(buffer.bytes.length - buffer.size)
      const end = buffer.reserve(count) + count
      buffer.put16(end - 2, 0x0605)
      assert.equal(formatHex(buffer.bytes.subarray(0, 4)), '01020304')
      assert.equal(formatHex(buffer.bytes.subarray(end - 2, end)), '0506')
    }
  })

  test('refuses to exceed the limit of a shard', () => {
    assert.throws(() => new ByteBuffer().reserve(SHARD_BYTES_MAX + 1), {
      name: 'SnapshotError',
      message: 'Cannot build shard: over 268435456 bytes',
    })
  })
})
