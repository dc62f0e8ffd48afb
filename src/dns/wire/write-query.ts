/**
 * Writes queries to upstreams, and to the server itself.
 * @module
 */
import { writeUint16 } from '../bytes/bytes.ts'
import { HEADER_BYTES } from '../names/limits.ts'
import { CLASS } from '../names/rr-class.ts'
import { TYPE } from '../names/rr-type.ts'
import type { EdnsOption } from './edns.ts'
import { FLAG } from './query.ts'

/** A query. Without `udpBytes` it has no OPT record. */
export type QueryFields = {
  readonly name: Uint8Array
  readonly type: number
  readonly class?: number
  readonly id?: number
  /** Header bits RD, AD and CD; RD if absent. */
  readonly flags?: number
  readonly udpBytes?: number
  readonly wantsDnssec?: boolean
  readonly options?: readonly EdnsOption[]
}

/** Writes a query with one question. */
export function writeQuery(fields: QueryFields): Uint8Array {
  const { name, type, id = 0, flags = FLAG.RD, udpBytes, options = [] } = fields
  const optionBytes = options.reduce((sum, { data }) => sum + 4 + data.length, 0)
  const questionEnd = HEADER_BYTES + name.length + 4
  const bytes = new Uint8Array(questionEnd + (udpBytes === undefined ? 0 : 11 + optionBytes))
  writeUint16(bytes, 0, id)
  writeUint16(bytes, 2, flags)
  writeUint16(bytes, 4, 1)
  bytes.set(name, HEADER_BYTES)
  writeUint16(bytes, questionEnd - 4, type)
  writeUint16(bytes, questionEnd - 2, fields.class ?? CLASS.IN)
  if (udpBytes === undefined) return bytes
  writeUint16(bytes, 10, 1)
  writeUint16(bytes, questionEnd + 1, TYPE.OPT)
  writeUint16(bytes, questionEnd + 3, udpBytes)
  writeUint16(bytes, questionEnd + 7, fields.wantsDnssec === true ? 0x8000 : 0)
  writeUint16(bytes, questionEnd + 9, optionBytes)
  let at = questionEnd + 11
  for (const { code, data } of options) {
    writeUint16(bytes, at, code)
    writeUint16(bytes, at + 2, data.length)
    bytes.set(data, at + 4)
    at += 4 + data.length
  }
  return bytes
}
