import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { concatBytes, formatHex } from '../../../src/dns/bytes/bytes.ts'
import { formatName, lowerName, nameOf } from '../../../src/dns/names/name.ts'
import { formatType, parseType, TYPE } from '../../../src/dns/names/rr-type.ts'
import { rdataSchema } from '../../../src/dns/rdata/rdata-schema.ts'
import { formatRdata } from '../../../src/dns/wire/rdata-text.ts'
import {
  fieldEnd,
  isValidRdata,
  nameEnd,
  readRdata,
  WireReader,
  writeRdata,
} from '../../../src/dns/wire/rdata-wire.ts'
import { ReplyWriter } from '../../../src/dns/wire/reply-writer.ts'
import { wireName } from '../../generators.ts'
import { KNOWN_TYPES, PRIVATE_TYPE, rdataOf } from './arbitraries.ts'
import { hex, queryOf } from './messages.ts'
import { RDATA } from './rdata-cases.ts'

const label63 = `3f${'61'.repeat(63)}`

describe('WireReader numbers and bytes', () => {
  test('are read in order, unsigned', () => {
    const reader = new WireReader(hex('ee fffe fffefdfc 0102 03'), 1)
    assert.equal(reader.uint16(), 0xfffe)
    assert.equal(reader.uint32(), 0xfffefdfc)
    assert.deepEqual(reader.take(2), hex('0102'))
    assert.equal(reader.take(1)[0], 3)
    assert.deepEqual([reader.at, reader.isBroken], [10, false])
    const last = new WireReader(hex('0102'))
    assert.deepEqual([last.uint16(), last.isBroken], [0x0102, false])
  })

  const overruns: { name: string; read: (reader: WireReader) => unknown }[] = [
    { name: '16 bits of 8', read: (reader) => reader.uint16() },
    { name: '32 bits of 8', read: (reader) => reader.uint32() },
    { name: 'two bytes of one', read: (reader) => reader.take(2) },
    { name: 'a name that overruns', read: (reader) => reader.name() },
  ]
  for (const { name, read } of overruns) {
    test(`break at ${name}`, () => {
      const reader = new WireReader(hex('01'))
      read(reader)
      assert.equal(reader.isBroken, true)
    })
  }

  test('are copies', () => {
    const bytes = hex('0161 00')
    const octets = new WireReader(bytes).take(3)
    const name = new WireReader(bytes).name()
    bytes.fill(0xff)
    assert.deepEqual([octets, name], [hex('016100'), hex('016100')])
  })
})

describe('WireReader.name', () => {
  const cases: { name: string; wire: string; at: number; is: string; end: number }[] = [
    { name: 'reads the root', wire: '00', at: 0, is: '.', end: 1 },
    { name: 'reads labels', wire: '0161 0162 00 ff', at: 0, is: 'a.b.', end: 5 },
    { name: 'keeps letter case', wire: '0141 00', at: 0, is: 'A.', end: 3 },
    { name: 'follows a pointer', wire: '0161 00 c000', at: 3, is: 'a.', end: 5 },
    {
      name: 'follows a pointer after labels',
      wire: '0161 00 0162 c000 ff',
      at: 3,
      is: 'b.a.',
      end: 7,
    },
    {
      name: 'follows a pointer to a pointer',
      wire: '0161 00 0162 c000 c003',
      at: 7,
      is: 'b.a.',
      end: 9,
    },
    { name: 'follows a pointer into a name', wire: '0161 0162 00 c002', at: 5, is: 'b.', end: 7 },
    { name: 'follows a pointer to the root', wire: '0161 00 c002', at: 3, is: '.', end: 5 },
    {
      name: 'reads 255 bytes by a pointer',
      wire: `${label63}${label63}${label63} 00 3d${'62'.repeat(61)} c000`,
      at: 193,
      is: `${'b'.repeat(61)}.${`${'a'.repeat(63)}.`.repeat(3)}`,
      end: 257,
    },
  ]
  for (const { name, wire, at, is, end } of cases) {
    test(name, () => {
      const reader = new WireReader(hex(wire), at)
      assert.equal(formatName(reader.name()), is)
      assert.deepEqual([reader.at, reader.isBroken], [end, false])
    })
  }

  const broken: { name: string; wire: string; at?: number }[] = [
    { name: 'nothing', wire: '' },
    { name: 'no root', wire: '0161' },
    { name: 'a label that overruns', wire: '0261' },
    { name: 'half a pointer', wire: 'c0' },
    { name: 'half a pointer after what it might mean', wire: '00 c0', at: 1 },
    { name: 'a pointer to itself', wire: 'c000' },
    { name: 'a pointer to its own label', wire: '0161 c000' },
    { name: 'a pointer forward', wire: 'c002 00' },
    { name: 'a pointer after the message', wire: '00 ffff', at: 1 },
    { name: 'two pointers at each other', wire: 'c002 c000', at: 2 },
    { name: 'a pointer to where a label points back', wire: '0161 0162 c000', at: 2 },
    { name: 'label type 01', wire: `41${'61'.repeat(65)}00` },
    { name: 'label type 10', wire: `81${'61'.repeat(129)}00` },
    { name: '256 bytes', wire: `${label63}${label63}${label63} 3e${'62'.repeat(62)} 00` },
    {
      name: '256 bytes by a pointer',
      wire: `${label63}${label63}${label63} 00 3e${'62'.repeat(62)} c000`,
      at: 193,
    },
  ]
  for (const { name, wire, at = 0 } of broken) {
    test(`breaks at ${name}`, () => {
      const reader = new WireReader(hex(wire), at)
      reader.name()
      assert.equal(reader.isBroken, true)
    })
  }

  test('follows 127 pointers and not 128', () => {
    const pointers = Array.from({ length: 128 }, (_, i) => {
      const target = i === 0 ? 0 : 2 * i - 1
      return Uint8Array.of(0xc0 | (target >> 8), target & 255)
    })
    const bytes = concatBytes(Uint8Array.of(0), ...pointers)
    const enough = new WireReader(bytes, 1 + 2 * 126)
    const tooMany = new WireReader(bytes, 1 + 2 * 127)
    assert.deepEqual(enough.name(), Uint8Array.of(0))
    tooMany.name()
    assert.deepEqual([enough.isBroken, tooMany.isBroken], [false, true])
  })

  test('never throws, and returns at most 255 bytes', () => {
    const octet = fc.oneof(fc.nat(255), fc.constantFrom(0, 1, 2, 0xc0))
    fc.assert(
      fc.property(fc.array(octet, { maxLength: 300 }), fc.nat(300), (octets, at) => {
        const reader = new WireReader(Uint8Array.from(octets), at)
        const name = reader.name()
        assert.ok(name.length <= 255)
        assert.equal(nameEnd(name, 0), name.length)
        if (!reader.isBroken) assert.ok(reader.at <= octets.length && reader.at > at)
      }),
      { numRuns: 3000 },
    )
  })
})

describe('readRdata', () => {
  const names = '0161 00' // The name `a.`, at which the rdata below points.
  const cases: { name: string; type: string; wire: string; is: string | undefined }[] = [
    { name: 'makes a name whole', type: 'NS', wire: '0162 c000', is: '0162 0161 00' },
    {
      name: 'makes names whole in types that must not have pointers',
      type: 'SRV',
      wire: '0001 0002 0003 c000',
      is: '0001 0002 0003 0161 00',
    },
    {
      name: 'makes both names of an SOA record whole',
      type: 'SOA',
      wire: 'c000 0162 c000 00000001 00000002 00000003 00000004 00000005',
      is: '0161 00 0162 0161 00 00000001 00000002 00000003 00000004 00000005',
    },
    { name: 'takes unknown types as they are', type: 'TYPE65280', wire: 'c000', is: 'c000' },
    { name: 'takes no bytes of an unknown type', type: 'TYPE65280', wire: '', is: '' },
    { name: 'refuses an address of three bytes', type: 'A', wire: 'c00002', is: undefined },
    { name: 'refuses an address of five bytes', type: 'A', wire: 'c000020100', is: undefined },
    {
      name: 'refuses an IPv6 address of four bytes',
      type: 'AAAA',
      wire: 'c0000201',
      is: undefined,
    },
    { name: 'refuses an empty name', type: 'NS', wire: '', is: undefined },
    { name: 'refuses bytes after a name', type: 'NS', wire: 'c000 00', is: undefined },
    { name: 'refuses a name that runs over the end', type: 'NS', wire: '0261', is: undefined },
    {
      name: 'refuses numbers without their name',
      type: 'SRV',
      wire: '0001 0002 0003',
      is: undefined,
    },
    {
      name: 'refuses an SOA record without its last number',
      type: 'SOA',
      wire: `00 00 ${'00'.repeat(16)}`,
      is: undefined,
    },
    { name: 'refuses TXT without a string', type: 'TXT', wire: '', is: undefined },
    { name: 'takes an empty string', type: 'TXT', wire: '00', is: '00' },
    { name: 'refuses a string that overruns', type: 'TXT', wire: '0161 02 61', is: undefined },
    { name: 'refuses a missing string', type: 'HINFO', wire: '0161', is: undefined },
    {
      name: 'refuses a string after the last',
      type: 'HINFO',
      wire: '0161 0161 00',
      is: undefined,
    },
    { name: 'refuses a tag that overruns', type: 'CAA', wire: '00 05 6973', is: undefined },
    {
      name: 'takes parameters in order',
      type: 'SVCB',
      wire: '0001 00 00010000 00020001ff',
      is: '0001 00 00010000 00020001ff',
    },
    { name: 'takes no parameters', type: 'SVCB', wire: '0000 c000', is: '0000 0161 00' },
    {
      name: 'refuses parameters out of order',
      type: 'SVCB',
      wire: '0001 00 00020000 00010000',
      is: undefined,
    },
    {
      name: 'refuses a parameter twice',
      type: 'HTTPS',
      wire: '0001 00 00010000 00010000',
      is: undefined,
    },
    {
      name: 'refuses a parameter that overruns',
      type: 'HTTPS',
      wire: '0001 00 0001000261',
      is: undefined,
    },
    { name: 'refuses half a parameter', type: 'HTTPS', wire: '0001 00 000100', is: undefined },
  ]
  for (const { name, type, wire, is } of cases) {
    test(name, () => {
      const number = parseType(type) ?? 0
      const rdata = hex(wire)
      // Bytes behind the rdata belong to the next record.
      const message = concatBytes(hex(names), rdata, hex('0000000000000000'))
      const reader = new WireReader(message, 3)
      const read = readRdata(reader, number, rdata.length)
      assert.equal(read && formatHex(read), is?.replaceAll(' ', ''))
      if (is !== undefined) assert.equal(reader.at, 3 + rdata.length)
    })
  }

  test('refuses rdata that overruns the message', () => {
    for (const type of [...KNOWN_TYPES, PRIVATE_TYPE]) {
      const read = readRdata(new WireReader(hex('0001 0003 616263 00')), type, 65535)
      assert.equal(read, undefined, formatType(type))
    }
  })

  test('reads every kind of rdata that zone files have', () => {
    for (const { type, wire } of RDATA) {
      const read = readRdata(new WireReader(hex(wire)), parseType(type) ?? 0, hex(wire).length)
      assert.deepEqual(read, hex(wire), `${type} ${wire}`)
    }
  })

  test('never throws, and returns valid rdata', () => {
    const octet = fc.oneof(fc.nat(255), fc.constantFrom(0, 1, 2, 3, 0xc0))
    const message = fc.array(octet, { maxLength: 60 }).map((octets) => Uint8Array.from(octets))
    fc.assert(
      fc.property(fc.constantFrom(...KNOWN_TYPES), message, fc.nat(60), (type, bytes, at) => {
        const rdata = readRdata(new WireReader(bytes, at), type, Math.max(0, bytes.length - at))
        if (rdata === undefined) return
        assert.ok(isValidRdata(type, rdata))
        formatRdata(type, rdata)
      }),
      { numRuns: 3000 },
    )
  })
})

describe('isValidRdata', () => {
  const cases: { name: string; type: number; wire: string; is: boolean }[] = [
    { name: 'holds for any bytes of an unknown type', type: PRIVATE_TYPE, wire: 'c000', is: true },
    { name: 'holds for a name', type: TYPE.NS, wire: '016100', is: true },
    { name: 'fails for a name in a pointer', type: TYPE.MX, wire: '000a c000', is: false },
    {
      name: 'fails for pointers that change no size',
      type: TYPE.PX,
      wire: '0001 c000 c001',
      is: false,
    },
    { name: 'fails for bytes after the rdata', type: TYPE.A, wire: 'c000020100', is: false },
  ]
  for (const { name, type, wire, is } of cases) {
    test(name, () => {
      assert.equal(isValidRdata(type, hex(wire)), is)
    })
  }

  for (const type of KNOWN_TYPES) {
    test(`holds for all that ${formatType(type)} may hold`, () => {
      fc.assert(
        fc.property(rdataOf(type), (rdata) => isValidRdata(type, rdata)),
        { numRuns: 20 },
      )
    })
  }
})

describe('nameEnd', () => {
  test('is after the root byte', () => {
    fc.assert(
      fc.property(wireName(), fc.uint8Array(), (name, more) => {
        assert.equal(nameEnd(concatBytes(more, name, more), more.length), more.length + name.length)
      }),
    )
  })
})

describe('writeRdata', () => {
  /** What rdata becomes in a reply to a question for `example.org`. */
  function written(type: number, rdata: Uint8Array): WireReader {
    const writer = new ReplyWriter()
    writer.begin(queryOf('example.org A'), { bytesMax: 65535 })
    const start = writer.length
    writer.writeName(nameOf('example.org'), true)
    assert.equal(writer.length, start + 2)
    writeRdata(writer, type, rdata)
    return new WireReader(writer.bytes.slice(0, writer.length), start + 2)
  }

  const target = `0177${formatHex(nameOf('example.org'))}`
  const cases: { type: string; wire: string; is: string }[] = [
    { type: 'CNAME', wire: target, is: '0177c00c' },
    { type: 'NS', wire: target, is: '0177c00c' },
    { type: 'PTR', wire: target, is: '0177c00c' },
    { type: 'MX', wire: `000a${target}`, is: '000a0177c00c' },
    {
      type: 'SOA',
      wire: `${target}${target}${'00000001'.repeat(5)}`,
      is: `0177c00cc01f${'00000001'.repeat(5)}`,
    },
    { type: 'SRV', wire: `000000640050${target}`, is: `000000640050${target}` },
    { type: 'DNAME', wire: target, is: target },
    { type: 'RP', wire: `${target}${target}`, is: `${target}${target}` },
    { type: 'HTTPS', wire: `0001${target}00020000`, is: `0001${target}00020000` },
    { type: 'NAPTR', wire: `000100010000 00${target}`, is: `000100010000 00${target}` },
    { type: 'TXT', wire: '016102 6263', is: '016102 6263' },
    { type: 'TYPE65280', wire: target, is: target },
  ]
  for (const { type, wire, is } of cases) {
    test(`${wire === is ? 'leaves names of' : 'compresses the names of'} ${type}`, () => {
      const reader = written(parseType(type) ?? 0, hex(wire))
      assert.equal(formatHex(reader.bytes.subarray(reader.at)), formatHex(hex(is)))
    })
  }

  for (const type of [...KNOWN_TYPES, PRIVATE_TYPE]) {
    test(`${formatType(type)} is read back as it was, letter case of names aside`, () => {
      fc.assert(
        fc.property(rdataOf(type), (rdata) => {
          const reader = written(type, rdata)
          const read = readRdata(reader, type, reader.bytes.length - reader.at)
          assert.ok(read)
          // Folding all bytes alike does for names, and hides nothing that a copy would change.
          assert.deepEqual(lowerName(read), lowerName(rdata))
        }),
        { numRuns: 20 },
      )
    })
  }
})

test('fieldEnd steps over all fields of any rdata', () => {
  for (const type of KNOWN_TYPES) {
    fc.assert(
      fc.property(rdataOf(type), (rdata) => {
        let at = 0
        for (const field of rdataSchema(type) ?? []) {
          const end = fieldEnd(field, rdata, at)
          assert.ok(end >= at)
          at = end
        }
        assert.equal(at, rdata.length)
      }),
      { numRuns: 10 },
    )
  }
})
