import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  asWordBytes,
  byteAt,
  compareBytes,
  concatBytes,
  EMPTY,
  equalBytes,
  formatHex,
  hashBytes,
  LOWER,
  parseHex,
  readInt32,
  readUint16,
  readUint32,
  tailMask,
  toLatin1,
  word,
  writeUint16,
  writeUint32,
} from '../../../src/dns/bytes/bytes.ts'

describe('LOWER', () => {
  test('changes only A to Z', () => {
    for (let value = 0; value < 256; value++) {
      const isCapital = value >= 'A'.charCodeAt(0) && value <= 'Z'.charCodeAt(0)
      assert.equal(LOWER[value], isCapital ? value + 32 : value)
    }
  })
})

describe('numbers', () => {
  test('are read in network order', () => {
    const bytes = Uint8Array.of(9, 0xff, 0xfe, 0xfd, 0xfc)
    assert.equal(byteAt(bytes, 1), 0xff)
    assert.equal(readUint16(bytes, 1), 0xfffe)
    assert.equal(readUint32(bytes, 1), 0xfffefdfc)
    assert.equal(readInt32(bytes, 1), 0xfffefdfc | 0)
    assert.equal(word(Int32Array.of(1, -2), 1), -2)
  })

  test('are written as DataView writes them, and nowhere else', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffffff }), fc.nat(8), (value, offset) => {
        const ours = new Uint8Array(12).fill(7)
        const theirs = new Uint8Array(12).fill(7)
        writeUint32(ours, offset, value)
        new DataView(theirs.buffer).setUint32(offset, value)
        assert.deepEqual(ours, theirs)
        assert.equal(readUint32(ours, offset), value)
        writeUint16(ours, offset, value)
        new DataView(theirs.buffer).setUint16(offset, value & 0xffff)
        assert.deepEqual(ours, theirs)
        assert.equal(readUint16(ours, offset), value & 0xffff)
      }),
    )
  })
})

describe('words', () => {
  test('are the same bytes, the last one filled up with 0', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (octets) => {
        const { bytes, words } = asWordBytes(octets)
        assert.deepEqual(bytes, octets)
        const all = [...words].flatMap((four) => [four, four >>> 8, four >>> 16, four >>> 24])
        const filled = [...octets, 0, 0, 0].slice(0, 4 * words.length)
        assert.deepEqual(
          all.map((value) => value & 0xff),
          filled,
        )
      }),
    )
  })

  test('are masked after the end of a name', () => {
    assert.deepEqual([1, 2, 3, 5].map(tailMask), [0xff, 0xffff, 0xffffff, 0xff])
  })
})

describe('comparing bytes', () => {
  const cases: { name: string; a: string; b: string; order: number }[] = [
    { name: 'takes nothing as equal to nothing', a: '', b: '', order: 0 },
    { name: 'takes the same bytes as equal', a: '00ff', b: '00ff', order: 0 },
    { name: 'puts a prefix before what it begins', a: '61', b: '6100', order: -1 },
    { name: 'lets the first difference decide', a: '6200', b: '61ffff', order: 1 },
    { name: 'takes bytes as unsigned', a: '80', b: '7f', order: 1 },
  ]
  for (const { name, a, b, order } of cases) {
    test(name, () => {
      const [left, right] = [Buffer.from(a, 'hex'), Buffer.from(b, 'hex')]
      assert.equal(Math.sign(compareBytes(left, right)), order)
      assert.equal(Math.sign(compareBytes(right, left)), 0 - order)
      assert.equal(equalBytes(left, right), order === 0)
    })
  }

  test('agrees with Buffer', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
        assert.equal(Math.sign(compareBytes(a, b)), Buffer.compare(a, b))
        assert.equal(equalBytes(a, b), Buffer.from(a).equals(b))
        assert.ok(equalBytes(a, a.slice()))
      }),
    )
  })
})

test('equalBytes compares every byte of long strings, wherever they start', () => {
  const cases = [0, 1, 4].flatMap((start) => [4096, 4099].map((length) => ({ start, length })))
  for (const { start, length } of cases) {
    const a = new Uint8Array(5000).subarray(start, start + length).fill(7)
    const b = new Uint8Array(5000).subarray(0, length).fill(7)
    assert.ok(equalBytes(a, b) && equalBytes(b, a))
    for (const at of [0, 1, 2047, 4092, length - 1]) {
      b[at] = 8
      assert.ok(!equalBytes(a, b), `${start} ${length} ${at}`)
      b[at] = 7
    }
  }
})

describe('joining and turning into text', () => {
  test('concatBytes makes a new array, also of one part and of none', () => {
    const part = Uint8Array.of(1, 2)
    const joined = concatBytes(part)
    joined[0] = 9
    assert.equal(part[0], 1)
    assert.deepEqual(concatBytes(), EMPTY)
    assert.deepEqual(concatBytes(part, EMPTY, Uint8Array.of(3)), Uint8Array.of(1, 2, 3))
  })

  test('toLatin1 converts each byte to a character', () => {
    const all = Uint8Array.from({ length: 256 }, (_, value) => value)
    assert.equal(toLatin1(all), Buffer.from(all).toString('latin1'))
  })

  test('formatHex and parseHex undo each other', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = formatHex(bytes)
        assert.equal(text, Buffer.from(bytes).toString('hex'))
        assert.deepEqual(parseHex(text), bytes)
        assert.deepEqual(parseHex(text.toUpperCase()), bytes)
      }),
    )
  })

  for (const text of ['0', '0g', ' 00', '00\n', '0x00', '００']) {
    test(`parseHex refuses ${JSON.stringify(text)}`, () => {
      assert.equal(parseHex(text), undefined)
    })
  }
})

describe('hashBytes', () => {
  test('differs for other bytes and for another seed', () => {
    const octets = fc.uint8Array({ minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(octets, fc.nat(), (some, at) => {
        const other = Uint8Array.from(some)
        const place = at % some.length
        other[place] = byteAt(some, place) ^ 1
        assert.equal(hashBytes(some, 1), hashBytes(Uint8Array.from(some), 1))
        assert.notEqual(hashBytes(some, 1), hashBytes(other, 1))
        assert.notEqual(hashBytes(some, 1), hashBytes(some, 2))
      }),
    )
  })
})
