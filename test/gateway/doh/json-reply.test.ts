import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatName, ROOT } from '../../../src/dns/names/name.ts'
import { CLASS } from '../../../src/dns/names/rr-class.ts'
import { formatType, TYPE } from '../../../src/dns/names/rr-type.ts'
import { formatString } from '../../../src/dns/rdata/character-string.ts'
import { EXTENDED_ERROR, extendedError, OPTION } from '../../../src/dns/wire/edns.ts'
import { EMPTY_REPLY, type ResourceRecord, writeReply } from '../../../src/dns/wire/message.ts'
import { parseQuery } from '../../../src/dns/wire/query.ts'
import { ReplyWriter } from '../../../src/dns/wire/reply-writer.ts'
import { formatJsonReply } from '../../../src/gateway/doh/json-reply.ts'
import { wireName } from '../../generators.ts'
import { parseRecord } from '../../parse-record.ts'
import { question, type ReplyText, replyOf } from './replies.ts'

describe('formatJsonReply', () => {
  const query = question('A.example.org', { udpBytes: 1232 })

  test('gives flags, question and sections', () => {
    const reply = replyOf(query, {
      answer: ['a.example.org. 300 CNAME b.example.org.', 'b.example.org. 60 A 192.0.2.1'],
      authority: ['example.org. 30 NS ns.example.org.'],
      additional: ['ns.example.org. 10 AAAA 2001:db8::1'],
    })
    const text = formatJsonReply(reply)
    assert.ok(text.endsWith('}\n'))
    assert.deepEqual(JSON.parse(text), {
      Status: 0,
      TC: false,
      RD: true,
      RA: false,
      AD: false,
      CD: false,
      Question: [{ name: 'A.example.org.', type: 1 }],
      Answer: [
        { name: 'A.example.org.', type: 5, TTL: 300, data: 'b.example.org.' },
        { name: 'b.example.org.', type: 1, TTL: 60, data: '192.0.2.1' },
      ],
      Authority: [{ name: 'example.org.', type: 2, TTL: 30, data: 'ns.example.org.' }],
      Additional: [{ name: 'ns.example.org.', type: 28, TTL: 10, data: '2001:db8::1' }],
    })
  })

  const flags: { name: string; message: Uint8Array; reply: ReplyText; is: object }[] = [
    { name: 'a cut reply', message: query, reply: { truncated: true }, is: { TC: true } },
    { name: 'a secure reply', message: query, reply: { authenticData: true }, is: { AD: true } },
    {
      name: 'a query with CD and without RD',
      message: question('a.example.org', { flags: 0x0010 }),
      reply: {},
      is: { RD: false, CD: true },
    },
    { name: 'an ordinary error', message: query, reply: { rcode: 5 }, is: { Status: 5 } },
    { name: 'an error over 15', message: query, reply: { rcode: 23 }, is: { Status: 23 } },
  ]
  for (const { name, message, reply, is } of flags) {
    test(`shows ${name}`, () => {
      const body = JSON.parse(formatJsonReply(replyOf(message, reply)))
      assert.deepEqual({ ...body, ...is }, body)
    })
  }

  test('leaves out what is empty', () => {
    const fields = Object.keys(JSON.parse(formatJsonReply(replyOf(query, {}))))
    assert.deepEqual(fields, ['Status', 'TC', 'RD', 'RA', 'AD', 'CD', 'Question'])
  })

  test('has no question where the reply has none', () => {
    const header = Uint8Array.of(0, 0, 0x90, 0x04, 0, 0, 0, 0, 0, 0, 0, 0)
    const body = JSON.parse(formatJsonReply(header))
    assert.deepEqual([body.Status, body.Question], [4, []])
  })

  const data: { type: string; rdata: string; data?: string }[] = [
    { type: 'AAAA', rdata: '2001:DB8:0:0:0:0:0:1', data: '2001:db8::1' },
    { type: 'SRV', rdata: '0 100 53 ns.example.org.' },
    { type: 'MX', rdata: '10 mail.example.org.' },
    { type: 'TXT', rdata: '"v=1" "a \\"b\\""' },
    { type: 'PTR', rdata: 'host.example.org.' },
    { type: 'HTTPS', rdata: '1 . alpn=h2', data: '1 . alpn="h2"' },
    { type: 'TYPE65280', rdata: '\\# 3 00ff0a' },
    { type: 'TYPE65280', rdata: '\\# 0' },
  ]
  for (const { type, rdata, data: shown = rdata } of data) {
    test(`writes the data of ${type} ${rdata} as zone files do`, () => {
      const reply = replyOf(query, { answer: [`a.example.org. 5 ${type} ${rdata}`] })
      assert.equal(JSON.parse(formatJsonReply(reply)).Answer[0].data, shown)
    })
  }

  test('comments on extended errors only, in their order', () => {
    const reply = replyOf(query, {
      rcode: 2,
      options: [
        extendedError(EXTENDED_ERROR.NOT_READY, 'no „snapshot“ yet'),
        { code: OPTION.NSID, data: Uint8Array.of(1) },
        extendedError(EXTENDED_ERROR.NETWORK_ERROR),
        { code: OPTION.EXTENDED_ERROR, data: Uint8Array.of(1) },
      ],
    })
    assert.equal(
      JSON.parse(formatJsonReply(reply)).Comment,
      'EDE(14): Not Ready: no „snapshot“ yet; EDE(23): Network Error; EDE',
    )
  })

  test('shows bytes that are no UTF-8 as replaced ones', () => {
    const options = [{ code: OPTION.EXTENDED_ERROR, data: Uint8Array.of(0, 0, 0xff) }]
    assert.equal(
      JSON.parse(formatJsonReply(replyOf(query, { options }))).Comment,
      'EDE(0): Other: \ufffd',
    )
  })

  test('takes nothing but a reply', () => {
    assert.throws(() => formatJsonReply(query), TypeError)
  })
})

describe('bytes in JSON', () => {
  for (let value = 0; value < 256; value++) {
    test(`byte ${value} in a name and in a text comes back from the JSON`, () => {
      const spelled = formatName(Uint8Array.of(1, value, 0))
      const text = formatString(Uint8Array.of(value))
      const line = `${spelled} 1 TXT ${text} ${text}`
      const json = formatJsonReply(replyOf(question(spelled), { answer: [line] }))
      assert.doesNotMatch(json, /[^\x20-\x7e\n]/)
      const { Question, Answer } = JSON.parse(json)
      assert.equal(Question[0].name, spelled)
      assert.deepEqual(Answer, [{ name: spelled, type: 16, TTL: 1, data: `${text} ${text}` }])
    })
  }
})

describe('records through JSON', () => {
  const rdata: fc.Arbitrary<Pick<ResourceRecord, 'type' | 'rdata'>> = fc.oneof(
    fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => ({ type: TYPE.A, rdata: bytes })),
    fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => ({
      type: TYPE.AAAA,
      rdata: bytes,
    })),
    wireName().map((name) => ({ type: TYPE.CNAME, rdata: name })),
    fc.uint8Array({ maxLength: 255 }).map((bytes) => ({
      type: TYPE.TXT,
      rdata: Uint8Array.of(bytes.length, ...bytes),
    })),
    fc.tuple(fc.integer({ min: 0xff00, max: 0xfffe }), fc.uint8Array()).map(([type, bytes]) => ({
      type,
      rdata: bytes,
    })),
  )
  const records = fc.array(
    fc.record({
      owner: wireName(),
      class: fc.constant(CLASS.IN),
      ttlSeconds: fc.integer({ min: 0, max: 0x7fffffff }),
      what: rdata,
    }),
    { maxLength: 8 },
  )

  test('come back as they were', () => {
    const query = parseQuery(question('query.invalid'))
    assert.ok(query.kind === 'query')
    fc.assert(
      fc.property(records, (drafts) => {
        const answer = drafts.map(({ what, ...rest }) => ({ ...rest, ...what }))
        const writer = new ReplyWriter()
        const size = writeReply(writer, query, { ...EMPTY_REPLY, answer }, { bytesMax: 65_535 })
        const { Answer = [] } = JSON.parse(formatJsonReply(writer.bytes.slice(0, size)))
        const read: (string | undefined)[] = []
        for (const { name, TTL, type, data } of Answer) {
          const parsed = parseRecord(`${name} ${TTL} IN ${formatType(type)} ${data}`, ROOT)
          read.push(parsed && keyOf(parsed))
        }
        assert.deepEqual(read, answer.map(keyOf))
      }),
    )
  })
})

/** Compression may point a name at one in other letters, so names are compared without case. */
function keyOf({ owner, type, ttlSeconds, rdata }: ResourceRecord): string {
  const isName = type === TYPE.CNAME
  const data = Buffer.from(rdata).toString('latin1')
  const name = Buffer.from(owner).toString('latin1').toLowerCase()
  return JSON.stringify([name, type, ttlSeconds, isName ? data.toLowerCase() : data])
}
