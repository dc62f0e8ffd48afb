import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { compareBytes, readUint32 } from '../../../src/dns/bytes/bytes.ts'
import { formatAddress, parseAddress } from '../../../src/dns/names/address.ts'
import { AddressTable } from '../../../src/snapshot/format/address-table.ts'

/** A table of addresses in the order given, two words behind the beginning. */
function tableOf(addresses: readonly Uint8Array[], addressBytes: 4 | 16): AddressTable {
  const keys = addresses.flatMap((address) =>
    Array.from({ length: addressBytes / 4 }, (_, i) => readUint32(address, 4 * i)),
  )
  const sets = addresses.map((_, i) => 1000 + i)
  const infos = addresses.map((_, i) => 0x10000 * (i + 1) + i + 7)
  const words = Int32Array.of(0xffffffff, 0xffffffff, ...keys, ...sets, ...infos)
  return new AddressTable(words, addressBytes, 8, addresses.length)
}

function addressOf(text: string): Uint8Array {
  const address = parseAddress(text)
  if (address === undefined) throw new TypeError(`Not an address: "${text}"`)
  return address
}

describe('AddressTable.firstFrom', () => {
  const four = tableOf(['192.0.2.1', '192.0.2.1', '192.0.2.9', '203.0.113.1'].map(addressOf), 4)
  const six = tableOf(['2001:db8::1', '2001:db8::1:0', '2001:db8:1::'].map(addressOf), 16)
  const cases: { name: string; table: AddressTable; text: string; index: number }[] = [
    { name: 'finds the first of several', table: four, text: '192.0.2.1', index: 0 },
    { name: 'finds a single one', table: four, text: '192.0.2.9', index: 2 },
    { name: 'gives the next for one between', table: four, text: '192.0.2.2', index: 2 },
    { name: 'gives the first for one before all', table: four, text: '10.0.0.0', index: 0 },
    { name: 'gives the count for one after all', table: four, text: '255.255.255.255', index: 4 },
    { name: 'compares beyond the first word', table: six, text: '2001:db8::1:0', index: 1 },
    { name: 'compares words without signs', table: six, text: '2001:db8::ffff:ffff', index: 2 },
    { name: 'gives the count for one after all', table: six, text: 'ff02::1', index: 3 },
  ]
  for (const { name, table, text, index } of cases) {
    test(`${name}: ${text}`, () => {
      assert.equal(table.firstFrom(addressOf(text)), index)
    })
  }

  test('gives 0 when there is none', () => {
    assert.equal(tableOf([], 4).firstFrom(addressOf('192.0.2.1')), 0)
  })

  for (const bytes of [4, 16] as const) {
    test(`agrees with a search from the front, of ${8 * bytes} bits`, () => {
      const address = fc.uint8Array({ minLength: bytes, maxLength: bytes, max: 3 })
      fc.assert(
        fc.property(fc.array(address), address, (addresses, wanted) => {
          const sorted = addresses.sort(compareBytes)
          const found = sorted.findIndex((one) => compareBytes(one, wanted) >= 0)
          const expected = found < 0 ? sorted.length : found
          assert.equal(tableOf(sorted, bytes).firstFrom(wanted), expected)
        }),
      )
    })
  }
})

describe('AddressTable.compare', () => {
  for (const bytes of [4, 16] as const) {
    test(`orders as bytes do, of ${8 * bytes} bits`, () => {
      const address = fc.uint8Array({ minLength: bytes, maxLength: bytes })
      fc.assert(
        fc.property(address, address, (a, b) => {
          assert.equal(Math.sign(tableOf([a], bytes).compare(0, b)), Math.sign(compareBytes(a, b)))
        }),
      )
    })
  }
})

describe('AddressTable.hasPrefix', () => {
  const table = tableOf(['192.0.2.129'].map(addressOf), 4)
  const six = tableOf(['2001:db8::8000:1'].map(addressOf), 16)
  const cases: { table: AddressTable; text: string; bits: number; has: boolean }[] = [
    { table, text: '192.0.2.129', bits: 32, has: true },
    { table, text: '192.0.2.128', bits: 32, has: false },
    { table, text: '192.0.2.128', bits: 31, has: true },
    { table, text: '192.0.2.0', bits: 25, has: false },
    { table, text: '192.0.2.0', bits: 24, has: true },
    { table, text: '193.0.0.0', bits: 8, has: false },
    { table, text: '128.0.0.0', bits: 1, has: true },
    { table, text: '0.0.0.0', bits: 1, has: false },
    { table, text: '0.0.0.0', bits: 0, has: true },
    { table: six, text: '2001:db8::8000:1', bits: 128, has: true },
    { table: six, text: '2001:db8::8000:0', bits: 128, has: false },
    { table: six, text: '2001:db8::8000:0', bits: 124, has: true },
    { table: six, text: '2001:db8::', bits: 97, has: false },
    { table: six, text: '2001:db8::', bits: 96, has: true },
    { table: six, text: '2001:db9::', bits: 32, has: false },
    { table: six, text: '2001::', bits: 16, has: true },
  ]
  for (const { table, text, bits, has } of cases) {
    test(`is ${has} for ${text}/${bits}`, () => {
      assert.equal(table.hasPrefix(0, addressOf(text), bits), has)
    })
  }

  for (const bytes of [4, 16] as const) {
    test(`compares the first bits of any entry, of ${8 * bytes} bits`, () => {
      const address = fc.uint8Array({ minLength: bytes, maxLength: bytes, max: 3 })
      const bitsOf = (octets: Uint8Array): string =>
        Array.from(octets, (value) => value.toString(2).padStart(8, '0')).join('')
      fc.assert(
        fc.property(fc.array(address), address, fc.nat(8 * bytes), (addresses, wanted, count) => {
          const table = tableOf(addresses, bytes)
          const prefix = bitsOf(wanted).slice(0, count)
          addresses.forEach((one, i) => {
            assert.equal(table.hasPrefix(i, wanted, count), bitsOf(one).startsWith(prefix))
          })
        }),
      )
    })
  }

  test('is false after the last entry', () => {
    assert.equal(table.hasPrefix(1, addressOf('192.0.2.129'), 0), false)
  })
})

describe('the columns of an AddressTable', () => {
  const texts: { bytes: 4 | 16; texts: readonly string[] }[] = [
    { bytes: 4, texts: ['192.0.2.1', '255.0.0.255'] },
    { bytes: 16, texts: ['2001:db8::ff00:1', 'ff02::1'] },
  ]
  for (const { bytes, texts: list } of texts) {
    test(`follow each other, of ${8 * bytes} bits`, () => {
      const table = tableOf(list.map(addressOf), bytes)
      assert.equal(table.count, 2)
      list.forEach((text, i) => {
        assert.equal(formatAddress(table.address(i)), text)
        assert.equal(table.set(i), 1000 + i)
        assert.equal(table.namespaceId(i), 7 + i)
        assert.equal(table.isPod(i), false)
        assert.equal(table.targetCount(i), 1 + i)
      })
    })
  }

  test('hold the greatest numbers', () => {
    const words = Int32Array.of(-1, 0x7ffffffc, -1)
    const table = new AddressTable(words, 4, 0, 1)
    assert.equal(table.set(0), 0x7ffffffc)
    assert.equal(table.namespaceId(0), 0x3fff)
    assert.equal(table.isPod(0), true)
    assert.equal(table.targetCount(0), 0xffff)
    assert.equal(formatAddress(table.address(0)), '255.255.255.255')
  })
})
