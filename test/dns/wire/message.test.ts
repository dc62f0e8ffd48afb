import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatHex, readUint16 } from '../../../src/dns/bytes/bytes.ts'
import { formatName } from '../../../src/dns/names/name.ts'
import { extendedError } from '../../../src/dns/wire/edns.ts'
import {
  EMPTY_REPLY,
  parseResponse,
  type Reply,
  type ResourceRecord,
  writeReply,
} from '../../../src/dns/wire/message.ts'
import { FLAG, type Query } from '../../../src/dns/wire/query.ts'
import { ReplyWriter } from '../../../src/dns/wire/reply-writer.ts'
import { formatRecord } from '../../../src/snapshot/records/zone-text.ts'
import { flipped } from '../../generators.ts'
import { anyRecord, familyName } from './arbitraries.ts'
import { hex, messageOf, queryBytes, queryOf, replyBytes } from './messages.ts'
import { decodeMessage, encodeMessage, oracleLines } from './oracle.ts'

/** One record of each kind that a second decoder knows, and what that makes of it. */
const RECORDS: readonly { readonly text: string; readonly decoded: string }[] = [
  { text: 'a.example.org. 5 IN A 192.0.2.1', decoded: 'a.example.org 5 A "192.0.2.1"' },
  { text: 'a.example.org. 5 IN AAAA 2001:db8::1', decoded: 'a.example.org 5 AAAA "2001:db8::1"' },
  {
    text: 'a.example.org. 5 IN CNAME b.example.org.',
    decoded: 'a.example.org 5 CNAME "b.example.org"',
  },
  { text: 'example.org. 0 IN NS ns.example.org.', decoded: 'example.org 0 NS "ns.example.org"' },
  {
    text: '1.2.0.192.in-addr.arpa. 5 IN PTR a.example.org.',
    decoded: '1.2.0.192.in-addr.arpa 5 PTR "a.example.org"',
  },
  { text: 'example.org. 5 IN DNAME example.net.', decoded: 'example.org 5 DNAME "example.net"' },
  {
    text: 'example.org. 30 IN SOA ns.example.org. root.example.org. 4294967295 2 3 4 5',
    decoded:
      'example.org 30 SOA {"mname":"ns.example.org","rname":"root.example.org",' +
      '"serial":4294967295,"refresh":2,"retry":3,"expire":4,"minimum":5}',
  },
  {
    text: 'example.org. 5 IN MX 10 mail.example.org.',
    decoded: 'example.org 5 MX {"preference":10,"exchange":"mail.example.org"}',
  },
  {
    text: '_http._tcp.example.org. 5 IN SRV 0 100 8080 a.example.org.',
    decoded:
      '_http._tcp.example.org 5 SRV ' +
      '{"priority":0,"weight":100,"port":8080,"target":"a.example.org"}',
  },
  {
    text: 'example.org. 5 IN HINFO "RFC8482" ""',
    decoded: 'example.org 5 HINFO {"cpu":"RFC8482","os":""}',
  },
  {
    text: 'example.org. 5 IN CAA 0 issue "ca.example.org"',
    decoded:
      'example.org 5 CAA {"flags":0,"tag":"issue","value":"ca.example.org","issuerCritical":false}',
  },
  {
    text: 'example.org. 5 IN NAPTR 1 2 "u" "E2U+sip" "!^.*$!sip:a@example.org!" .',
    decoded:
      'example.org 5 NAPTR {"order":1,"preference":2,"flags":"u","services":"E2U+sip",' +
      '"regexp":"!^.*$!sip:a@example.org!","replacement":"."}',
  },
  { text: '. 5 IN NS ns.example.org.', decoded: '. 5 NS "ns.example.org"' },
]

const query = queryOf('a.example.org A', { id: 4711, udpBytes: 1232 })

function writeTo(asked: Query, reply: Reply): Uint8Array {
  const writer = new ReplyWriter()
  return writer.bytes.slice(0, writeReply(writer, asked, reply, { bytesMax: 65535 }))
}

/** A record as text in small letters: compression may change those of names. */
function lowerText(record: ResourceRecord): string {
  return formatRecord(record).toLowerCase()
}

describe('writeReply', () => {
  for (const { text, decoded } of RECORDS) {
    test(`writes ${text} so that a second decoder reads it`, () => {
      const reply = replyBytes(query, { answer: [text, text], additional: [text] })
      const { answers, additionals } = decodeMessage(reply)
      assert.deepEqual(oracleLines(answers), [decoded, decoded])
      assert.deepEqual(oracleLines(additionals), [decoded, 'OPT'])
    })
  }

  test('keeps each record in its section', () => {
    const decoded = decodeMessage(
      replyBytes(query, {
        answer: ['a.example.org. 5 IN A 192.0.2.1'],
        authority: ['example.org. 6 IN NS ns.example.org.'],
        additional: ['ns.example.org. 7 IN A 192.0.2.53'],
      }),
    )
    assert.deepEqual(oracleLines(decoded.answers), ['a.example.org 5 A "192.0.2.1"'])
    assert.deepEqual(oracleLines(decoded.authorities), ['example.org 6 NS "ns.example.org"'])
    assert.deepEqual(oracleLines(decoded.additionals), ['ns.example.org 7 A "192.0.2.53"', 'OPT'])
  })

  const flags: { name: string; reply: Partial<Reply>; word: number }[] = [
    { name: 'none of them', reply: {}, word: 0x8100 },
    { name: 'AA', reply: { authoritative: true }, word: 0x8500 },
    { name: 'RA', reply: { recursionAvailable: true }, word: 0x8180 },
    { name: 'AD', reply: { authenticData: true }, word: 0x8120 },
    { name: 'TC', reply: { truncated: true }, word: 0x8300 },
    {
      name: 'RD, when it is not to be as in the query',
      reply: { recursionDesired: false },
      word: 0x8000,
    },
    { name: 'RD, when it is to be set', reply: { recursionDesired: true }, word: 0x8100 },
    { name: 'the response code', reply: { rcode: 3 }, word: 0x8103 },
  ]
  test('spells the question otherwise when it is to', () => {
    const questionName = query.bytes
      .slice(12, query.questionEnd - 4)
      .map((value) => (value > 63 ? value & 0xdf : value))
    const written = writeTo(query, { ...EMPTY_REPLY, questionName })
    assert.deepEqual(written.subarray(12, 12 + questionName.length), questionName)
    assert.equal(written.length, writeTo(query, EMPTY_REPLY).length)
  })

  test('sets DO on request, also if the query does not', () => {
    const asked = queryOf('a.example.org A', { udpBytes: 1232 })
    for (const [reply, flags] of [
      [EMPTY_REPLY, 0],
      [{ ...EMPTY_REPLY, dnssecOk: true }, 0x8000],
    ] as const) {
      const written = writeTo(asked, reply)
      assert.equal(readUint16(written, written.length - 4), flags)
    }
  })

  for (const { name, reply, word } of flags) {
    test(`sets ${name}`, () => {
      assert.equal(readUint16(writeTo(query, { ...EMPTY_REPLY, ...reply }), 2), word)
    })
  }

  test('drops the records that do not fit, and all later ones', () => {
    const large = `a.example.org. 5 IN TXT ${'a'.repeat(255)} ${'b'.repeat(255)}`
    const small = 'a.example.org. 5 IN A 192.0.2.1'
    const reply = replyBytes(query, {
      answer: [small, large, small],
      authority: [small],
      additional: [small],
      bytesMax: 512,
    })
    const parsed = parseResponse(reply)
    assert.deepEqual(parsed?.answer.map(formatRecord), [small])
    assert.deepEqual([parsed?.authority, parsed?.additional, parsed?.truncated], [[], [], true])
  })

  test('points owners and targets at names that stand there already', () => {
    const reply = replyBytes(queryOf('a.example.org A'), {
      answer: ['a.example.org. 5 IN CNAME b.example.org.', 'b.example.org. 5 IN A 192.0.2.1'],
    })
    const records = 'c00c 0005 0001 00000005 0004 0162c00e  c02b 0001 0001 00000005 0004 c0000201'
    assert.equal(formatHex(reply.subarray(31)), records.replaceAll(' ', ''))
  })

  test('pads to the block it is given, and not without one', () => {
    const padded = queryOf('a.example.org A', {
      udpBytes: 512,
      options: [{ code: 12, data: hex('') }],
    })
    assert.equal(replyBytes(padded, { paddingBlock: 468 }).length, 468)
    assert.equal(writeTo(padded, EMPTY_REPLY).length, 31 + 11)
  })

  test('writes what parseResponse reads, ignoring case', () => {
    const some = fc.array(anyRecord(familyName()), { maxLength: 5 })
    const option = fc.record(
      { code: fc.nat(65535).filter((code) => code !== 12), data: fc.uint8Array() },
      { noNullPrototype: true },
    )
    const reply = fc.record({
      kind: fc.constant('reply' as const),
      rcode: fc.nat(4095),
      authoritative: fc.boolean(),
      recursionAvailable: fc.boolean(),
      authenticData: fc.boolean(),
      truncated: fc.boolean(),
      origin: fc.constant('upstream' as const),
      answer: some,
      authority: some,
      additional: some,
      options: fc.array(option, { maxLength: 3 }),
    })
    fc.assert(
      fc.property(reply, (sent) => {
        const read = parseResponse(writeTo(query, sent))
        assert.ok(read)
        const sections = ['answer', 'authority', 'additional'] as const
        for (const section of sections) {
          assert.deepEqual(read[section].map(lowerText), sent[section].map(lowerText))
        }
        const { id, question, answer, authority, additional, ...rest } = read
        assert.deepEqual({ ...sent, ...rest }, { ...sent })
        assert.deepEqual([id, question && formatName(question.name)], [4711, 'a.example.org.'])
      }),
      { numRuns: 300 },
    )
  })
})

describe('parseResponse', () => {
  test('parses the output of another encoder', () => {
    const response = parseResponse(
      encodeMessage({
        type: 'response',
        id: 99,
        flags: FLAG.AA | FLAG.RA | FLAG.AD | FLAG.TC,
        questions: [{ name: 'Example.org', type: 'MX' }],
        answers: [
          {
            name: 'example.org',
            type: 'MX',
            ttl: 300,
            data: { preference: 5, exchange: 'mx.example.org' },
          },
          { name: 'example.org', type: 'TXT', ttl: 60, class: 'CH', data: ['a b', 'c'] },
        ],
        authorities: [{ name: 'example.org', type: 'NS', ttl: 1, data: 'ns.example.org' }],
        additionals: [{ name: 'mx.example.org', type: 'AAAA', ttl: 2, data: '2001:db8::25' }],
      }),
    )
    assert.ok(response)
    assert.deepEqual(response.answer.map(formatRecord), [
      'example.org. 300 IN MX 5 mx.example.org.',
      'example.org. 60 CH TXT "a b" "c"',
    ])
    assert.deepEqual(response.authority.map(formatRecord), ['example.org. 1 IN NS ns.example.org.'])
    assert.deepEqual(response.additional.map(formatRecord), [
      'mx.example.org. 2 IN AAAA 2001:db8::25',
    ])
    assert.equal(response.question && formatName(response.question.name), 'Example.org.')
    assert.deepEqual([response.question?.type, response.question?.class], [15, 1])
    const { id, rcode, authoritative, recursionAvailable, authenticData, truncated } = response
    assert.deepEqual([id, rcode, response.origin], [99, 0, 'upstream'])
    assert.deepEqual(
      [authoritative, recursionAvailable, authenticData, truncated],
      [true, true, true, true],
    )
  })

  test('takes the OPT record apart and out of the additional section', () => {
    const sent = { rcode: 0x123, options: [extendedError(22, 'why')] }
    const response = parseResponse(replyBytes(query, sent))
    assert.deepEqual([response?.rcode, response?.options], [0x123, sent.options])
    assert.deepEqual(response?.additional, [])
  })

  const opt = '00 0029 04d0 00000000 0000'
  const record = '00 0001 0001 00000005 0004 c0000201'
  const good: { name: string; counts: [number, number, number, number]; body: string }[] = [
    { name: 'a header alone', counts: [0, 0, 0, 0], body: '' },
    { name: 'a record without a question', counts: [0, 1, 0, 0], body: record },
    { name: 'an OPT record before others', counts: [0, 0, 0, 2], body: `${opt} ${record}` },
    { name: 'bytes after all of it', counts: [0, 1, 0, 0], body: `${record} c0ffee` },
    { name: 'a TTL of 32 bits', counts: [0, 1, 0, 0], body: '00 0001 0001 ffffffff 0004 c0000201' },
  ]
  for (const { name, counts, body } of good) {
    test(`takes ${name}`, () => {
      const response = parseResponse(messageOf({ flags: 0x8000, counts, body }))
      const found = [...(response?.answer ?? []), ...(response?.additional ?? [])]
      const isUnsigned = found.every(
        ({ ttlSeconds }) => ttlSeconds === 5 || ttlSeconds === 2 ** 32 - 1,
      )
      assert.ok(response && isUnsigned)
      assert.equal(found.length, body.includes('c0000201') ? 1 : 0)
    })
  }

  const bad: { name: string; bytes: Uint8Array }[] = [
    { name: 'nothing', bytes: hex('') },
    { name: '11 bytes', bytes: messageOf({ flags: 0x8000 }).subarray(0, 11) },
    { name: 'a query', bytes: queryBytes('example.org A') },
    ...(
      [
        ['two questions', [2, 0, 0, 0], '00 0001 0001 00 0001 0001'],
        ['a question that is not there', [1, 0, 0, 0], ''],
        ['a record that is not there', [0, 1, 0, 0], ''],
        ['65535 of each record, one there', [0, 65535, 65535, 65535], record],
        ['an address of three bytes', [0, 1, 0, 0], '00 0001 0001 00000005 0003 c00002'],
        ['an OPT record that overruns', [0, 0, 0, 1], '00 0029 04d0 00000000 0001'],
        ['an owner that points at itself', [0, 1, 0, 0], 'c00c 0001 0001 00000005 0004 c0000201'],
        ['a target that points at itself', [0, 1, 0, 0], '00 0005 0001 00000005 0002 c017'],
        [
          'a target that runs into the next record',
          [0, 1, 0, 0],
          '00 0005 0001 00000005 0001 016100',
        ],
        ['TXT without a string', [0, 1, 0, 0], '00 0010 0001 00000005 0000'],
      ] as const
    ).map(([name, counts, body]) => ({ name, bytes: messageOf({ flags: 0x8000, counts, body }) })),
  ]
  for (const { name, bytes } of bad) {
    test(`refuses ${name}`, () => {
      assert.equal(parseResponse(bytes), undefined)
    })
  }

  const whole = replyBytes(query, {
    answer: RECORDS.map(({ text }) => text),
    options: [extendedError(3)],
  })

  test('refuses every truncation of a message', () => {
    assert.ok(parseResponse(whole))
    for (let size = 0; size < whole.length; size++) {
      assert.equal(parseResponse(whole.subarray(0, size)), undefined, `${size} bytes`)
    }
  })

  /** Whatever is accepted can be shown, and written again. */
  function checkAnyResult(bytes: Uint8Array): void {
    const response = parseResponse(bytes)
    if (response === undefined) return
    response.answer.forEach(formatRecord)
    const again = parseResponse(writeTo(query, response))
    assert.deepEqual(again?.answer.map(lowerText), response.answer.map(lowerText))
  }

  test('never throws on a message with bits flipped', () => {
    fc.assert(fc.property(flipped(whole), checkAnyResult), { numRuns: 2000 })
  })

  test('never throws for any bytes after a header', () => {
    const counts = fc.tuple(fc.nat(2), fc.nat(3), fc.nat(3), fc.nat(65535))
    const octets = fc.array(fc.oneof(fc.nat(255), fc.constantFrom(0, 1, 0xc0, 12)))
    fc.assert(
      fc.property(counts, octets, (some, body) => {
        checkAnyResult(messageOf({ flags: 0x8000, counts: some, body: Uint8Array.from(body) }))
      }),
      { numRuns: 2000 },
    )
  })

  test('returns copies of the message’s bytes', () => {
    const bytes = whole.slice()
    const response = parseResponse(bytes)
    bytes.fill(0xff)
    assert.deepEqual(
      response?.answer.map(formatRecord),
      RECORDS.map(({ text }) => text),
    )
  })
})
