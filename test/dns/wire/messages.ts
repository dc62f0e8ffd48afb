/**
 * Messages, queries and records for tests, from little text.
 * @module
 */
import assert from 'node:assert/strict'
import { parseHex, writeUint16 } from '../../../src/dns/bytes/bytes.ts'
import { HEADER_BYTES, MESSAGE_BYTES_MAX } from '../../../src/dns/names/limits.ts'
import { nameOf, ROOT } from '../../../src/dns/names/name.ts'
import { parseType } from '../../../src/dns/names/rr-type.ts'
import {
  EMPTY_REPLY,
  type Reply,
  type ResourceRecord,
  writeReply,
} from '../../../src/dns/wire/message.ts'
import { parseQuery, type Query, type Refusal } from '../../../src/dns/wire/query.ts'
import { ReplyWriter } from '../../../src/dns/wire/reply-writer.ts'
import { type QueryFields, writeQuery } from '../../../src/dns/wire/write-query.ts'
import { parseRecord } from '../../parse-record.ts'

/** Bytes from hexadecimal digits; blanks are for reading only. */
export function hex(text: string): Uint8Array {
  const bytes = parseHex(text.replaceAll(/\s/g, ''))
  assert.ok(bytes, `not hexadecimal: ${text}`)
  return bytes
}

/** A message from its header's words and what follows them. */
export function messageOf({
  flags = 0x0100,
  counts = [1, 0, 0, 0],
  body = '',
}: {
  readonly flags?: number
  readonly counts?: readonly [number, number, number, number]
  readonly body?: string | Uint8Array
}): Uint8Array {
  const rest = typeof body === 'string' ? hex(body) : body
  const bytes = new Uint8Array(HEADER_BYTES + rest.length)
  writeUint16(bytes, 0, 0x1234)
  writeUint16(bytes, 2, flags)
  counts.forEach((count, i) => {
    writeUint16(bytes, 4 + 2 * i, count)
  })
  bytes.set(rest, HEADER_BYTES)
  return bytes
}

/** A record from a line of a zone file. */
export function recordOf(line: string): ResourceRecord {
  const record = parseRecord(line, ROOT)
  assert.ok(record, `not a record: ${line}`)
  return record
}

/** What to ask, as `name type`, and the fields of the query beside that. */
export function queryBytes(
  question: string,
  fields: Omit<QueryFields, 'name' | 'type'> = {},
): Uint8Array {
  const [name = '', type = ''] = question.split(' ')
  const number = parseType(type)
  assert.ok(number !== undefined, `not a type: ${type}`)
  return writeQuery({ ...fields, name: nameOf(name), type: number })
}

/** The query that the gate makes of a message it lets pass. */
export function accepted(bytes: Uint8Array): Query {
  const result = parseQuery(bytes)
  if (result.kind === 'refusal') assert.fail(`refused with ${result.rcode}`)
  return result
}

/** The refusal that a message gets, with what was read of it. */
export function refused(bytes: Uint8Array): { readonly query: Query; readonly refusal: Refusal } {
  const query = accepted(queryBytes('. A'))
  const refusal = parseQuery(bytes, query)
  assert.equal(refusal.kind, 'refusal')
  return { query, refusal }
}

/** As `queryBytes`, read by the gate. */
export function queryOf(question: string, fields?: Omit<QueryFields, 'name' | 'type'>): Query {
  return accepted(queryBytes(question, fields))
}

/** A reply to a query, its records as lines of a zone file. */
export function replyBytes(
  query: Query,
  {
    answer = [],
    authority = [],
    additional = [],
    bytesMax = MESSAGE_BYTES_MAX,
    paddingBlock = 0,
    ...rest
  }: Partial<Omit<Reply, 'answer' | 'authority' | 'additional'>> & {
    readonly answer?: readonly string[]
    readonly authority?: readonly string[]
    readonly additional?: readonly string[]
    readonly bytesMax?: number
    readonly paddingBlock?: number
  } = {},
): Uint8Array {
  const writer = new ReplyWriter()
  const reply: Reply = {
    ...EMPTY_REPLY,
    ...rest,
    answer: answer.map(recordOf),
    authority: authority.map(recordOf),
    additional: additional.map(recordOf),
  }
  return writer.bytes.slice(0, writeReply(writer, query, reply, { bytesMax }, paddingBlock))
}
