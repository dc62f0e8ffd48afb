import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatHex } from '../../../src/dns/bytes/bytes.ts'
import { lowerName, nameOf } from '../../../src/dns/names/name.ts'
import { CLASS } from '../../../src/dns/names/rr-class.ts'
import { parseOptions } from '../../../src/dns/wire/edns.ts'
import { FLAG } from '../../../src/dns/wire/query.ts'
import { type QueryFields, writeQuery } from '../../../src/dns/wire/write-query.ts'
import { wireName } from '../../generators.ts'
import { accepted, queryBytes } from './messages.ts'
import { decodeMessage, encodeMessage } from './oracle.ts'

describe('writeQuery', () => {
  test('writes the query of RFC 8484 §4.1.1', () => {
    assert.equal(
      formatHex(queryBytes('www.example.com A')),
      '00000100000100000000000003777777076578616d706c6503636f6d0000010001',
    )
  })

  test('writes the same as another encoder', () => {
    const theirs = encodeMessage({
      type: 'query',
      id: 0xbeef,
      flags: FLAG.RD | FLAG.CD,
      questions: [{ name: 'a.example.org', type: 'AAAA' }],
      additionals: [
        {
          type: 'OPT',
          name: '.',
          udpPayloadSize: 1232,
          extendedRcode: 0,
          ednsVersion: 0,
          flags: 0x8000,
          flag_do: true,
          options: [{ code: 12, length: 5 }],
        },
      ],
    })
    const ours = queryBytes('a.example.org AAAA', {
      id: 0xbeef,
      flags: FLAG.RD | FLAG.CD,
      udpBytes: 1232,
      wantsDnssec: true,
      options: [{ code: 12, data: new Uint8Array(5) }],
    })
    assert.equal(formatHex(ours), formatHex(theirs))
  })

  const cases: {
    name: string
    fields: Partial<QueryFields>
    find: (found: Found) => unknown
    is: unknown
  }[] = [
    { name: 'requests recursion by default', fields: {}, find: (q) => q.flag_rd, is: true },
    { name: 'requests none on request', fields: { flags: 0 }, find: (q) => q.flag_rd, is: false },
    { name: 'has the ID 0 by default', fields: {}, find: (q) => q.id, is: 0 },
    {
      name: 'takes a class',
      fields: { class: CLASS.CH },
      find: (q) => q.questions?.[0]?.class,
      is: 'CH',
    },
    {
      name: 'has no OPT record without a UDP size',
      fields: { wantsDnssec: true, options: [{ code: 3, data: new Uint8Array(0) }] },
      find: (q) => q.additionals?.length,
      is: 0,
    },
    {
      name: 'requests DNSSEC only on request, and sets no other flag',
      fields: { udpBytes: 512 },
      find: (q) => q.additionals?.map((opt) => opt.type === 'OPT' && opt.flags),
      is: [0],
    },
    {
      name: 'has an OPT record with a UDP size of 0',
      fields: { udpBytes: 0 },
      find: (q) => q.additionals?.[0]?.type,
      is: 'OPT',
    },
  ]
  for (const { name, fields, find, is } of cases) {
    test(name, () => {
      const bytes = writeQuery({ name: nameOf('example.org'), type: 1, ...fields })
      assert.deepEqual(find(decodeMessage(bytes)), is)
    })
  }

  test('writes what parseQuery reads, for any name, type and options', () => {
    const data = fc.uint8Array({ maxLength: 20 })
    const option = fc.record({ code: fc.nat(65535), data }, { noNullPrototype: true })
    const fields = fc.record({
      name: wireName(),
      type: fc.nat(65535).filter((type) => type !== 249 && type !== 250),
      class: fc.nat(65535),
      id: fc.nat(65535),
      udpBytes: fc.nat(65535),
      wantsDnssec: fc.boolean(),
      options: fc.array(option),
    })
    fc.assert(
      fc.property(fields, (asked) => {
        const query = accepted(writeQuery(asked))
        assert.deepEqual(query.name.slice(0, query.nameBytes), lowerName(asked.name))
        assert.deepEqual(
          [query.type, query.class, query.id, query.udpBytes, query.wantsDnssec],
          [asked.type, asked.class, asked.id, asked.udpBytes, asked.wantsDnssec],
        )
        assert.deepEqual(
          parseOptions(query.bytes, query.optionsStart, query.optionsBytes),
          asked.options,
        )
      }),
    )
  })
})

type Found = ReturnType<typeof decodeMessage>
