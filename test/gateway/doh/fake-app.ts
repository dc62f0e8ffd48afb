/**
 * Queries and replies from text, and an app that answers from a small zone of them, for any
 * runtime.
 * @module
 */
import type { Hono } from 'hono'
import { MESSAGE_BYTES_MAX } from '../../../src/dns/names/limits.ts'
import { formatName, nameOf, ROOT } from '../../../src/dns/names/name.ts'
import { RCODE } from '../../../src/dns/names/rcode.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { type EdnsOption, extendedError } from '../../../src/dns/wire/edns.ts'
import { EMPTY_REPLY, type ResourceRecord, writeReply } from '../../../src/dns/wire/message.ts'
import { parseQuery, Query } from '../../../src/dns/wire/query.ts'
import { refusalReply } from '../../../src/dns/wire/refusal.ts'
import { ReplyWriter } from '../../../src/dns/wire/reply-writer.ts'
import { type QueryFields, writeQuery } from '../../../src/dns/wire/write-query.ts'
import { createDohApp } from '../../../src/gateway/doh/app.ts'
import { parseRecord } from '../../parse-record.ts'

/** A reply: what is not said is empty or not set. */
export type ReplyText = {
  readonly rcode?: number
  readonly truncated?: true
  readonly authenticData?: true
  readonly answer?: readonly string[]
  readonly authority?: readonly string[]
  readonly additional?: readonly string[]
  readonly options?: readonly EdnsOption[]
}

/** Reads a record of a zone file. */
export function record(line: string): ResourceRecord {
  const parsed = parseRecord(line, ROOT)
  if (parsed === undefined) throw new TypeError(`Not a record: ${line}`)
  return parsed
}

/** Writes a query for addresses, or what `fields` say. */
export function question(name: string, fields: Partial<QueryFields> = {}): Uint8Array {
  return writeQuery({ name: nameOf(name), type: TYPE.A, ...fields })
}

/** Writes the reply to a message; a message that is no query is refused as the gate has it. */
export function replyTo(message: Uint8Array, text: ReplyText = {}): Uint8Array | undefined {
  const query = new Query()
  const parsed = parseQuery(message, query)
  if (parsed.kind === 'refusal') return refusalReply(query, parsed)
  const writer = new ReplyWriter()
  const sections = {
    answer: (text.answer ?? []).map(record),
    authority: (text.authority ?? []).map(record),
    additional: (text.additional ?? []).map(record),
  }
  const reply = { ...EMPTY_REPLY, authoritative: true, ...text, ...sections }
  const size = writeReply(writer, query, reply, { bytesMax: MESSAGE_BYTES_MAX })
  return writer.bytes.slice(0, size)
}

/** As `replyTo`, where there is a reply for sure. */
export function replyOf(message: Uint8Array, text: ReplyText): Uint8Array {
  const reply = replyTo(message, text)
  if (reply === undefined) throw new TypeError('Not a query')
  return reply
}

const SOA = 'example.org. 60 SOA ns.example.org. admin.example.org. 1 7200 1800 86400'

const ZONE: ReadonlyMap<string, ReplyText> = new Map<string, ReplyText>([
  ['a.example.org.', { answer: ['a.example.org. 300 A 192.0.2.1'] }],
  [
    'many.example.org.',
    {
      answer: [
        'many.example.org. 30 A 192.0.2.1',
        'many.example.org. 600 A 192.0.2.2',
        'many.example.org. 300 A 192.0.2.3',
      ],
    },
  ],
  ['zero.example.org.', { answer: ['zero.example.org. 0 A 192.0.2.1'] }],
  ['nodata.example.org.', { authority: [`${SOA} 30`] }],
  ['missing.example.org.', { rcode: RCODE.NXDOMAIN, authority: [`${SOA} 3600`] }],
  [
    'alias.example.org.',
    {
      rcode: RCODE.NXDOMAIN,
      answer: ['alias.example.org. 300 CNAME missing.example.org.'],
      authority: [`${SOA} 10`],
    },
  ],
  ['bare.example.org.', {}],
  ['cut.example.org.', { truncated: true, answer: ['cut.example.org. 300 A 192.0.2.1'] }],
  ['formerr.example.org.', { rcode: RCODE.FORMERR }],
  ['servfail.example.org.', { rcode: RCODE.SERVFAIL }],
  ['notimp.example.org.', { rcode: RCODE.NOTIMP }],
  ['refused.example.org.', { rcode: RCODE.REFUSED }],
  ['badvers.example.org.', { rcode: RCODE.BADVERS }],
  ['badcookie.example.org.', { rcode: RCODE.BADCOOKIE }],
  [
    'stale.example.org.',
    {
      rcode: RCODE.SERVFAIL,
      options: [extendedError(14, 'no snapshot yet'), extendedError(22)],
    },
  ],
  [
    'large.example.org.',
    {
      answer: Array.from(
        { length: 2300 },
        (_, i) => `large.example.org. 5 AAAA 2001:db8::${i.toString(16)}`,
      ),
    },
  ],
])

/**
 * Answers from the zone above, NXDOMAIN for other names. No answer to `silent.example.org.`; the
 * question for `broken.example.org.` is one that the answerer breaks over.
 */
export function fakeAnswer(message: Uint8Array): Uint8Array | undefined {
  const query = parseQuery(message)
  const name = query.kind === 'query' ? formatName(query.name) : ''
  if (name === 'silent.example.org.') return undefined
  if (name === 'broken.example.org.') throw new TypeError('secret words of the inside')
  return replyTo(message, ZONE.get(name) ?? { rcode: RCODE.NXDOMAIN })
}

/** An app that answers so; for who sends `Authorization`, privately. */
export function fakeApp(): Hono {
  return createDohApp({
    answer: fakeAnswer,
    isPrivate: (c) => c.req.header('authorization') !== undefined,
  })
}
