/**
 * Responses of the JSON API.
 * @module
 */
import { readUint16 } from '../../dns/bytes/bytes.ts'
import { formatName } from '../../dns/names/name.ts'
import { OPTION, readExtendedError } from '../../dns/wire/edns.ts'
import { parseResponse, type ResourceRecord } from '../../dns/wire/message.ts'
import { FLAG } from '../../dns/wire/query.ts'
import { formatRdata } from '../../dns/wire/rdata-text.ts'

/** A record of a section. */
export type JsonRecord = {
  readonly name: string
  readonly type: number
  readonly TTL: number
  readonly data: string
}

/** A response of the JSON API. A section without records is absent. */
export type JsonReply = {
  /** The response code: 0 for NOERROR, 3 for NXDOMAIN. */
  readonly Status: number
  readonly TC: boolean
  readonly RD: boolean
  readonly RA: boolean
  readonly AD: boolean
  readonly CD: boolean
  readonly Question: readonly { readonly name: string; readonly type: number }[]
  readonly Answer?: readonly JsonRecord[]
  readonly Authority?: readonly JsonRecord[]
  readonly Additional?: readonly JsonRecord[]
  /** Extended errors (RFC 8914). */
  readonly Comment?: string
}

/** Formats a response of ours: names with their final dot, data as in zone files. */
export function formatJsonReply(reply: Uint8Array): string {
  return `${JSON.stringify(describeReply(reply))}\n`
}

/** As {@link formatJsonReply}, as an object. */
export function describeReply(reply: Uint8Array): JsonReply {
  const response = parseResponse(reply)
  if (response === undefined) throw new TypeError('Cannot read a reply of our own')
  const { question, answer, authority, additional, options } = response
  const flags = readUint16(reply, 2)
  const has = (flag: number): boolean => (flags & flag) !== 0
  const comments = options.filter(({ code }) => code === OPTION.EXTENDED_ERROR).map(describeError)
  return {
    Status: response.rcode,
    TC: has(FLAG.TC),
    RD: has(FLAG.RD),
    RA: has(FLAG.RA),
    AD: has(FLAG.AD),
    CD: has(FLAG.CD),
    Question: question ? [{ name: formatName(question.name), type: question.type }] : [],
    ...section('Answer', answer),
    ...section('Authority', authority),
    ...section('Additional', additional),
    ...(comments.length > 0 ? { Comment: comments.join('; ') } : {}),
  }
}

function section(
  name: string,
  records: readonly ResourceRecord[],
): Readonly<Record<string, readonly JsonRecord[]>> {
  return records.length === 0 ? {} : { [name]: records.map(toJson) }
}

function toJson({ owner, type, ttlSeconds, rdata }: ResourceRecord): JsonRecord {
  return { name: formatName(owner), type, TTL: ttlSeconds, data: formatRdata(type, rdata) }
}

function describeError({ data }: { readonly data: Uint8Array }): string {
  const error = readExtendedError(data)
  if (error === undefined) return 'EDE'
  return [`EDE(${error.code})`, error.name, error.text].filter((part) => part !== '').join(': ')
}
