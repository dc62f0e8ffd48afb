import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { textOf } from '../../../../src/dns/bytes/unknown.ts'
import { parseAddress } from '../../../../src/dns/names/address.ts'
import { Mmdb, type MmdbValue, memberOf } from '../../../../src/resolver/plugins/geoip/mmdb.ts'
import { differentialDatabase, Typed, type Written, writeMmdb, writeValue } from './write-mmdb.ts'

function addressOf(text: string): Uint8Array {
  const address = parseAddress(text)
  assert.ok(address)
  return address
}

function open(
  networks: Readonly<Record<string, Written>>,
  options: Partial<Parameters<typeof writeMmdb>[0]> = {},
): Mmdb {
  return new Mmdb(writeMmdb({ type: 'Test', recordBits: 24, ipVersion: 6, ...options }, networks))
}

describe('Mmdb finds', () => {
  const networks = { '192.0.2.0/24': 'a', '198.51.100.7/32': 'b', '2001:db8::/32': 'c' }
  const cases: { address: string; found: string | undefined }[] = [
    { address: '192.0.2.0', found: 'a' },
    { address: '192.0.2.255', found: 'a' },
    { address: '192.0.3.0', found: undefined },
    { address: '198.51.100.7', found: 'b' },
    { address: '198.51.100.6', found: undefined },
    { address: '2001:db8::1', found: 'c' },
    { address: '2001:db9::', found: undefined },
  ]
  for (const recordBits of [24, 28, 32] as const) {
    const database = open(networks, { recordBits })
    test(`networks in records of ${recordBits} bits`, () => {
      const found = cases.map(({ address }) => database.find(addressOf(address)))
      assert.deepEqual(
        found,
        cases.map((one) => one.found),
      )
    })
  }

  test('no IPv6 address in a tree of IPv4 addresses', () => {
    const database = open({ '192.0.2.0/24': 'a' }, { ipVersion: 4 })
    assert.equal(database.find(addressOf('192.0.2.1')), 'a')
    assert.equal(database.find(addressOf('2001:db8::1')), undefined)
  })

  const values: { name: string; written: Written; read?: MmdbValue }[] = [
    { name: 'texts', written: 'Zürich' },
    { name: 'long texts', written: 'x'.repeat(70_000) },
    { name: 'texts of a length in two bytes', written: 'x'.repeat(300) },
    { name: 'numbers', written: { a: 0, b: 255, c: 4_294_967_295 } },
    { name: 'doubles', written: new Typed('double', -0.1431), read: -0.1431 },
    { name: 'floats', written: new Typed('float', 0.5), read: 0.5 },
    { name: 'signed numbers', written: new Typed('int32', -7), read: -7 },
    { name: 'claims', written: [true, false] },
    { name: 'lists of maps', written: [{ a: 'b' }, {}], read: [{ a: 'b' }, {}] },
    { name: 'bytes', written: Uint8Array.of(1, 2) },
    {
      name: 'greater numbers',
      written: new Typed('uint64', 258),
      read: 258n,
    },
    { name: 'a key that objects have anyway', written: { constructor: 'x' } },
  ]
  for (const { name, written, read } of values) {
    test(`values: ${name}`, () => {
      const found = open({ '192.0.2.0/24': written }).find(addressOf('192.0.2.1'))
      const plain = found instanceof Uint8Array ? new Uint8Array(found) : found
      assert.deepEqual(plain, read ?? written)
    })
  }
})

describe('Mmdb follows pointers', () => {
  /** Finds the value that these bytes are, behind 1 to 3 bytes for their size in the data. */
  function findIn(...octets: readonly number[]): MmdbValue | undefined {
    const written = Uint8Array.from(octets)
    const bytes = writeMmdb({ type: 'T', recordBits: 24, ipVersion: 4 }, { '0.0.0.0/1': written })
    // The only node's first record leads to the bytes, not to the control byte before them.
    const start = writeValue(written).length - written.length
    bytes.set([0, 0, 1 + 16 + start], 0)
    return new Mmdb(bytes).find(addressOf('1.2.3.4'))
  }

  test('to what stands elsewhere', () => {
    assert.equal(findIn(0x20, 3, ...writeValue('hi')), 'hi')
  })

  test('but not for ever', () => {
    assert.equal(findIn(0x20, 1), undefined)
  })

  test('but each of them once, however many point to it', () => {
    // Lists of two pointers to the next such list: 2^40 values, unless each target is read once.
    const lists = Array.from({ length: 40 }, (_, i) => {
      const next = 2 + 6 * (i + 1)
      return [2, 4, 0x20, next, 0x20, next]
    })
    assert.ok(Array.isArray(findIn(...lists.flat(), ...writeValue('end'))))
  })

  test('but not more than one lookup may follow', () => {
    // A list of pointers, each to an empty text of its own behind the list.
    const listOf = (count: number): number[] => {
      const size = [0x1e, 4, (count - 285) >>> 8, (count - 285) & 255]
      const start = 3 + size.length + 5 * count
      const pointers = Array.from({ length: count }, (_, i) => {
        const at = start + i
        return [0x38, 0, 0, at >>> 8, at & 255]
      })
      return [...size, ...pointers.flat(), ...new Array<number>(count).fill(0x40)]
    }
    const found = findIn(...listOf(4095))
    assert.ok(Array.isArray(found) && found.length === 4095)
    assert.ok(found.every((value) => value === ''))
    assert.equal(findIn(...listOf(4096)), undefined)
  })

  test('but not beyond the end', () => {
    assert.equal(findIn(0x3f, 0xff, 0xff, 0xff, 0xff), undefined)
  })
})

describe('Mmdb refuses', () => {
  const whole = differentialDatabase()
  const cases: { name: string; bytes: Uint8Array; message: RegExp }[] = [
    {
      name: 'what is no database',
      bytes: Buffer.from('x'.repeat(100)),
      message: /^its metadata is unreadable$/,
    },
    {
      name: 'another version',
      bytes: Buffer.from(
        Buffer.from(whole)
          .toString('latin1')
          .replace('major_version\xc1\x02', 'major_version\xc1\x03'),
        'latin1',
      ),
      message: /version is not 2/,
    },
    { name: 'a tree that is cut off', bytes: whole.subarray(1500), message: /truncated/ },
  ]
  for (const { name, bytes, message } of cases) {
    test(name, () => {
      assert.throws(() => new Mmdb(bytes), { name: 'RangeError', message })
    })
  }

  test('nothing of a damaged database with more than an error that says so', () => {
    const addresses = ['127.0.0.9', '127.0.4.1', '127.1.0.1', '::1', '192.0.2.1'].map(addressOf)
    const damage = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 40 })
    fc.assert(
      fc.property(damage, (changes) => {
        const bytes = new Uint8Array(whole)
        for (const [at, value] of changes) bytes[at] = value
        try {
          const database = new Mmdb(bytes)
          for (const address of addresses) database.find(address)
        } catch (error) {
          assert.ok(error instanceof RangeError, String(error))
        }
      }),
      { numRuns: 2000, seed: 1 },
    )
  })
})

test('members and texts are those of maps and texts only', () => {
  assert.equal(memberOf({ a: 'b' }, 'a'), 'b')
  for (const value of [undefined, 'a', 7, ['a'], Uint8Array.of(1), { b: 1 }]) {
    assert.equal(memberOf(value, 'a'), undefined)
  }
  assert.equal(memberOf({}, 'constructor'), undefined)
  assert.deepEqual([textOf('a'), textOf(7), textOf(undefined)], ['a', '', ''])
})
