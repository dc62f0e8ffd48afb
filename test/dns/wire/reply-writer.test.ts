import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { asWordBytes, formatHex, readUint16, wordBytes } from '../../../src/dns/bytes/bytes.ts'
import { formatName, nameOf } from '../../../src/dns/names/name.ts'
import { CLASS } from '../../../src/dns/names/rr-class.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { extendedError, OPTION } from '../../../src/dns/wire/edns.ts'
import { parseResponse, type ResourceRecord } from '../../../src/dns/wire/message.ts'
import { FLAG, type Query } from '../../../src/dns/wire/query.ts'
import { WireReader } from '../../../src/dns/wire/rdata-wire.ts'
import {
  QUESTION_OFFSET,
  type ReplyLimits,
  ReplyWriter,
  SECTION,
} from '../../../src/dns/wire/reply-writer.ts'
import { PRIVATE_TYPE } from './arbitraries.ts'
import { accepted, hex, messageOf, queryOf, refused } from './messages.ts'
import { decodeMessage } from './oracle.ts'

const ADDRESS = hex('c0000201')
const padding = { code: OPTION.PADDING, data: new Uint8Array(3) }

/** Writes an A record of the question's name and tells whether it was kept. */
function writeAddress(writer: ReplyWriter, section: number = SECTION.ANSWER): boolean {
  writer.pointOwner(QUESTION_OFFSET)
  writer.beginRecord(TYPE.A, CLASS.IN, 300)
  writer.writeBytes(ADDRESS, 0, 4)
  return writer.endRecord(section)
}

/** Writes a record at the root that has so many bytes in all. */
function writeBulk(writer: ReplyWriter, size: number): boolean {
  writer.beginRootOwner()
  writer.beginRecord(PRIVATE_TYPE, CLASS.IN, 0)
  writer.writeBytes(new Uint8Array(size), 0, size - 11)
  return writer.endRecord(SECTION.ANSWER)
}

function writeOwner(writer: ReplyWriter, name: string): boolean {
  writer.beginOwner()
  writer.writeName(nameOf(name), true)
  writer.beginRecord(TYPE.A, CLASS.IN, 300)
  writer.writeBytes(ADDRESS, 0, 4)
  return writer.endRecord(SECTION.ANSWER)
}

/** A reply begun in a buffer that is not clean. */
function begun(query: Query, limits: ReplyLimits = { bytesMax: 65535 }): ReplyWriter {
  const writer = new ReplyWriter()
  writer.bytes.fill(0xee)
  writer.begin(query, limits)
  return writer
}

function finished(writer: ReplyWriter, rcode = 0, flags = 0, block = 0): Uint8Array {
  return writer.bytes.slice(0, writer.finish(rcode, flags, block))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, value) => total + value, 0)
}

function answerOf(reply: Uint8Array): readonly ResourceRecord[] {
  const parsed = parseResponse(reply)
  assert.ok(parsed)
  return parsed.answer
}

describe('the header of a reply', () => {
  const question = '00 0001 0001'
  const cases: { name: string; query: number; flags?: number; rcode?: number; word: number }[] = [
    { name: 'says that it is a response', query: 0, word: 0x8000 },
    { name: 'copies RD', query: FLAG.RD, word: 0x8100 },
    { name: 'copies CD', query: FLAG.CD, word: 0x8010 },
    { name: 'copies nothing else', query: 0x06ef, word: 0x8000 },
    {
      name: 'has the flags it is given',
      query: 0,
      flags: FLAG.AA | FLAG.RA | FLAG.AD,
      word: 0x84a0,
    },
    { name: 'has the code', query: FLAG.RD, rcode: 3, word: 0x8103 },
    { name: 'has the low bits of a greater code', query: 0, rcode: 23, word: 0x8007 },
  ]
  for (const { name, query, flags, rcode, word } of cases) {
    test(name, () => {
      const writer = begun(accepted(messageOf({ flags: query, body: question })))
      const reply = finished(writer, rcode, flags)
      assert.equal(
        formatHex(reply),
        `1234${word.toString(16)}0001000000000000${question.replaceAll(' ', '')}`,
      )
    })
  }

  test('has the operation of a message that was refused', () => {
    const { query } = refused(messageOf({ flags: 0x2000 }))
    assert.equal(readUint16(finished(begun(query)), 2), 0xa000)
  })

  test('counts no question when none was read', () => {
    const { query } = refused(messageOf({ body: 'c00c' }))
    assert.equal(formatHex(finished(begun(query), 1)), '123481010000000000000000')
  })

  test('cannot be written before the reply is begun', () => {
    assert.throws(() => new ReplyWriter().finish(0, 0), TypeError)
  })
})

describe('a complete reply', () => {
  test('is decoded by another library, section by section', () => {
    const query = queryOf('www.Example.org A', { id: 77, udpBytes: 1232, wantsDnssec: true })
    const writer = begun(query)
    writeAddress(writer)
    writeOwner(writer, 'other.example.org')
    writeAddress(writer, SECTION.AUTHORITY)
    writeAddress(writer, SECTION.ADDITIONAL)
    const decoded = decodeMessage(finished(writer, 0, FLAG.AA))
    const address = { type: 'A', ttl: 300, class: 'IN', flush: false, data: '192.0.2.1' }
    const own = { name: 'www.Example.org', ...address }
    assert.equal(decoded.id, 77)
    assert.equal(decoded.flag_aa, true)
    assert.deepEqual(decoded.questions, [{ name: 'www.Example.org', type: 'A', class: 'IN' }])
    assert.deepEqual(decoded.answers, [own, { name: 'other.Example.org', ...address }])
    assert.deepEqual(decoded.authorities, [own])
    const [additional, opt] = decoded.additionals ?? []
    assert.deepEqual(additional, own)
    assert.ok(opt?.type === 'OPT')
    assert.deepEqual(
      [opt.udpPayloadSize, opt.extendedRcode, opt.ednsVersion, opt.flags, opt.options],
      [1232, 0, 0, 0x8000, []],
    )
  })

  test('echoes the question byte for byte, odd ones too', () => {
    const query = queryOf('wWw.\\000\\255\\..ExAmPlE A')
    writeAddress(begun(query))
    assert.deepEqual(finished(begun(query)).subarray(12), query.bytes.subarray(12))
  })

  test('has no bytes of the previous reply', () => {
    const writer = begun(queryOf('www.example.org A', { udpBytes: 1232 }), { bytesMax: 512 })
    writeOwner(writer, 'a.example.com')
    while (writeAddress(writer)) assert.equal(writer.isFull, false)
    writer.finish(3, FLAG.AA)
    const query = queryOf('org AAAA')
    writer.begin(query, { bytesMax: 512 })
    writeOwner(writer, 'a.example.com')
    const fresh = begun(query)
    writeOwner(fresh, 'a.example.com')
    assert.deepEqual(finished(writer), finished(fresh))
  })
})

describe('names in a reply', () => {
  test('point at the question, letter case aside, and leave its spelling', () => {
    const writer = begun(queryOf('WWW.Example.org A'))
    const start = writer.length
    writeOwner(writer, 'www.example.ORG')
    assert.equal(formatHex(writer.bytes.subarray(start, start + 4)), 'c00c0001')
    assert.equal(formatName(answerOf(finished(writer))[0]?.owner ?? hex('00')), 'WWW.Example.org.')
  })

  test('are uncompressed if required, and later names can point to them', () => {
    const writer = begun(queryOf('_sip._tcp.example.org SRV'))
    const target = nameOf('pod.svc.example.org')
    writer.pointOwner(QUESTION_OFFSET)
    writer.beginRecord(TYPE.SRV, CLASS.IN, 5)
    writer.writeBytes(new Uint8Array(6), 0, 6)
    const at = writer.length
    writer.writeName(target, false)
    assert.deepEqual(writer.bytes.slice(at, writer.length), target)
    writer.endRecord(SECTION.ANSWER)
    const owner = writer.length
    writeOwner(writer, 'pod.svc.example.org')
    assert.equal(readUint16(writer.bytes, owner), 0xc000 | at)
  })

  test('of 40,000 bytes point below 16,384 only, and read back', () => {
    const writer = begun(queryOf('example.org A'))
    const names = Array.from({ length: 1500 }, (_, i) => `host-number-${i}.zone-${i % 900}.org`)
    for (const name of names) assert.ok(writeOwner(writer, name))
    const reply = finished(writer)
    assert.ok(reply.length > 40000, `${reply.length}`)
    const owners = answerOf(reply).map(({ owner }) => formatName(owner))
    assert.deepEqual(
      owners,
      names.map((name) => `${name}.`),
    )
    assert.equal(decodeMessage(reply).answers?.[1499]?.name, names[1499])
  })

  test('can be joined from labels and an origin', () => {
    const labels = wordBytes(12)
    labels.bytes.set(nameOf('x.pod.svc').subarray(0, -1))
    const writer = begun(queryOf('svc.example.org A'))
    const start = writer.length
    assert.ok(writer.writeJoinedName(labels, 2, 8, asWordBytes(nameOf('example.org'))))
    assert.equal(formatHex(writer.bytes.subarray(start, writer.length)), '03706f64c00c')
    assert.ok(writer.writeJoinedNameWhole(labels, 6, 4, asWordBytes(nameOf('example.org'))))
    const whole = writer.bytes.slice(start + 6, writer.length)
    assert.deepEqual(whole, nameOf('svc.example.org'))
  })

  test('are not joined over 255 bytes', () => {
    const origin = asWordBytes(nameOf([63, 63, 63, 51].map((n) => 'a'.repeat(n)).join('.')))
    const labels = wordBytes(12)
    labels.bytes.set(nameOf('ninechars.x').subarray(0, -1))
    const writer = begun(queryOf('. A'))
    const start = writer.length
    assert.equal(origin.bytes.length, 245)
    assert.equal(writer.writeJoinedName(labels, 0, 12, origin), false)
    assert.equal(writer.writeJoinedNameWhole(labels, 0, 12, origin), false)
    assert.equal(writer.length, start)
    assert.ok(writer.writeJoinedName(labels, 0, 10, origin))
    assert.equal(writer.length, start + 255)
  })
})

describe('a record taken back', () => {
  test('removes the names of a removed record', () => {
    const query = queryOf('example.org A')
    const writer = begun(query)
    writer.beginOwner()
    writer.writeName(nameOf('a.example.com'), true)
    writer.cancelRecord()
    writeOwner(writer, 'a.example.com')
    const fresh = begun(query)
    writeOwner(fresh, 'a.example.com')
    assert.deepEqual(finished(writer), finished(fresh))
  })

  test('lets later names point at the question as before', () => {
    const writer = begun(queryOf('example.org A'))
    writeOwner(writer, 'a.example.org')
    writer.beginOwner()
    writer.writeName(nameOf('b.example.org'), true)
    writer.cancelRecord()
    const start = writer.length
    writer.writeName(nameOf('example.org'), true)
    assert.equal(formatHex(writer.bytes.subarray(start, writer.length)), 'c00c')
  })
})

describe('a reply that is full', () => {
  const sizes = fc.array(fc.integer({ min: 11, max: 300 }), { minLength: 1, maxLength: 30 })
  const options = fc.constantFrom([], [extendedError(0, 'a few words')])

  test('keeps the complete records that fit, in order, and sets TC', () => {
    const limit = fc.integer({ min: 512, max: 1500 })
    fc.assert(
      fc.property(sizes, limit, fc.boolean(), options, (records, bytesMax, hasEdns, some) => {
        const query = queryOf('example.org TXT', hasEdns ? { udpBytes: 4096 } : {})
        const writer = begun(query, { bytesMax, options: some })
        const kept = records.filter((size) => writeBulk(writer, size))
        const optBytes = hasEdns ? 11 + sum(some.map(({ data }) => 4 + data.length)) : 0
        const room = bytesMax - query.questionEnd - optBytes
        const isOver = (_: number, i: number): boolean => sum(records.slice(0, i + 1)) > room
        const over = records.findIndex(isOver)
        assert.deepEqual(kept, over < 0 ? records : records.slice(0, over))
        const reply = finished(writer)
        assert.ok(reply.length <= bytesMax)
        assert.equal((readUint16(reply, 2) & FLAG.TC) !== 0, over >= 0)
        assert.equal(writer.isFull, over >= 0)
        const parsed = parseResponse(reply)
        assert.equal(readUint16(reply, 6), kept.length)
        assert.deepEqual(parsed?.options, hasEdns ? some : [])
      }),
    )
  })

  test('sets TC for an additional record too', () => {
    const writer = begun(queryOf('example.org A'), { bytesMax: 512 })
    writeAddress(writer)
    while (writeAddress(writer, SECTION.ADDITIONAL)) assert.equal(writer.isFull, false)
    const { flag_tc, answers, additionals } = decodeMessage(finished(writer))
    assert.deepEqual([flag_tc, answers?.length, additionals?.length], [true, 1, 29])
  })

  test('drops later records, even if they would fit', () => {
    const writer = begun(queryOf('example.org TXT'), { bytesMax: 512 })
    assert.equal(writeBulk(writer, 600), false)
    assert.equal(writeAddress(writer), false)
    const reply = finished(writer)
    assert.equal(reply.length, 12 + 17)
    assert.deepEqual(answerOf(reply), [])
  })

  for (const fields of [{}, { udpBytes: 512 }]) {
    test(`takes a record that fills it ${fields.udpBytes ? 'with' : 'without'} EDNS`, () => {
      const room = 512 - 29 - (fields.udpBytes ? 11 : 0)
      const query = queryOf('example.org TXT', fields)
      assert.equal(writeBulk(begun(query, { bytesMax: 512 }), room), true)
      assert.equal(writeBulk(begun(query, { bytesMax: 512 }), room + 1), false)
    })
  }

  test('is never over 65,535 bytes', () => {
    const writer = begun(queryOf('example.org A', { udpBytes: 1232, options: [padding] }))
    let count = 0
    while (writeAddress(writer)) count++
    const reply = finished(writer, 0, 0, 468)
    assert.equal(count, Math.floor((65535 - 29 - 11) / 16))
    assert.ok(reply.length <= 65535)
    assert.equal(answerOf(reply).length, count)
    assert.equal(readUint16(reply, 2) & FLAG.TC, FLAG.TC)
  })

  test('takes back a record of 65,535 bytes that came last', () => {
    const writer = begun(queryOf('example.org TXT'))
    assert.ok(writeBulk(writer, 65000))
    assert.equal(writeBulk(writer, 65535 + 11), false)
    assert.equal(finished(writer).length, 29 + 65000)
  })
})

describe('the OPT record of a reply', () => {
  const limits: ReplyLimits = {
    bytesMax: 65535,
    udpBytes: 1400,
    options: [extendedError(18, 'no')],
  }

  test('is present exactly when the query has one', () => {
    assert.equal(decodeMessage(finished(begun(queryOf('. A'), limits))).additionals?.length, 0)
    const reply = finished(begun(queryOf('. A', { udpBytes: 4096 }), limits))
    assert.equal(formatHex(reply.subarray(17)), '0000290578000000000008000f000400126e6f')
  })

  test('carries the upper bits of the code', () => {
    const reply = finished(begun(queryOf('. A', { udpBytes: 512, wantsDnssec: true })), 16)
    assert.equal(formatHex(reply.subarray(17)), '00002904d0010080000000')
    assert.equal((reply[3] ?? 1) & 15, 0)
  })
})

describe('padding', () => {
  const padded = queryOf('example.org A', { udpBytes: 1232, options: [padding] })

  test('makes the reply a multiple of the block, with zeros, and is one option', () => {
    fc.assert(
      fc.property(fc.nat(2000), fc.constantFrom(1, 128, 468), (size, block) => {
        const writer = begun(padded, { bytesMax: 65535, options: [extendedError(3)] })
        if (size >= 11) writeBulk(writer, size)
        const before = writer.length + 11 + 6
        const reply = finished(writer, 0, 0, block)
        assert.equal(reply.length % block, 0)
        assert.ok(reply.length - before < block + 4)
        const [, option, ...more] = parseResponse(reply)?.options ?? []
        assert.equal(option?.code, OPTION.PADDING)
        assert.ok(option?.data.every((value) => value === 0))
        assert.equal(more.length, 0)
      }),
    )
  })

  const unpadded = 12 + 17 + 11
  const cases: { name: string; query?: Query; block?: number; bulk?: number; size: number }[] = [
    { name: 'makes a small reply 468 bytes', size: 468 },
    { name: 'is missing without a block', block: 0, size: unpadded },
    {
      name: 'is missing unless the query has it',
      query: queryOf('example.org A', { udpBytes: 1232 }),
      size: unpadded,
    },
    { name: 'is missing without EDNS', query: queryOf('example.org A'), size: unpadded - 11 },
    { name: 'has no bytes when its head ends the block', bulk: 468 - unpadded - 4, size: 468 },
    { name: 'ends the next block when its head does not fit', bulk: 468 - unpadded - 3, size: 936 },
    { name: 'stops at the greatest message', bulk: 65535 - unpadded - 10, size: 65535 },
    { name: 'is a head alone at the end', bulk: 65535 - unpadded - 4, size: 65535 },
    { name: 'is left out without room for its head', bulk: 65535 - unpadded - 3, size: 65532 },
  ]
  for (const { name, query = padded, block = 468, bulk, size } of cases) {
    test(name, () => {
      const writer = begun(query)
      if (bulk !== undefined) assert.ok(writeBulk(writer, bulk))
      assert.equal(finished(writer, 0, 0, block).length, size)
    })
  }

  test('leaves a message that a reader gets through', () => {
    assert.equal(begun(padded).finish(0, 0), unpadded)
    const reply = finished(begun(padded), 0, 0, 468)
    const reader = new WireReader(reply, 29)
    reader.name()
    assert.equal(reader.uint16(), TYPE.OPT)
    reader.take(6)
    reader.take(reader.uint16())
    assert.deepEqual([reader.at, reader.isBroken], [reply.length, false])
  })
})
