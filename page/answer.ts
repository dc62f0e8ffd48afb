/**
 * A response as people read it: one sentence, and a table of records.
 * @module
 */
import { readUint16 } from '../src/dns/bytes/bytes.ts'
import { formatName } from '../src/dns/names/name.ts'
import { formatRcode, RCODE } from '../src/dns/names/rcode.ts'
import { formatType, TYPE } from '../src/dns/names/rr-type.ts'
import { parseResponse, type ResourceRecord } from '../src/dns/wire/message.ts'
import { formatRdata } from '../src/dns/wire/rdata-text.ts'
import { count, formatAge, plainName } from './visible.ts'

/** What to query; a new serial queries again. */
export type PageQuestion = { readonly name: string; readonly type: string; readonly serial: number }

/** A record for the table. */
export type Row = {
  readonly name: string
  readonly type: string
  readonly ttl: string
  /** The most important part of the rdata. */
  readonly data: string
  /** The rest of it; '' for none. */
  readonly detail: string
}

/** A response for people. */
export type Answer = {
  readonly status: string
  readonly tone: 'good' | 'empty' | 'bad'
  readonly sentence: string
  readonly rows: readonly Row[]
}

/** Types whose data is a name. */
const NAMES: ReadonlySet<number> = new Set([TYPE.CNAME, TYPE.PTR, TYPE.NS])
const NOUNS: Readonly<Record<string, string>> = {
  A: 'address',
  AAAA: 'address',
  SRV: 'endpoint',
  PTR: 'name',
}

/** Describes a response; `undefined` for bytes that are not a DNS response. */
export function describeReply(reply: Uint8Array): Answer | undefined {
  const response = parseResponse(reply)
  if (response === undefined) return undefined
  const { rcode, answer, question } = response
  const type = question === undefined ? '' : formatType(question.type)
  const rows = answer.map(rowOf)
  const base = { status: formatRcode(rcode), rows }
  if (rcode === RCODE.NXDOMAIN) return { ...base, tone: 'empty', sentence: 'No such name.' }
  if (rcode === RCODE.REFUSED) {
    return { ...base, tone: 'bad', sentence: 'This gateway does not serve the name.' }
  }
  if (rcode !== RCODE.NOERROR) {
    return { ...base, tone: 'bad', sentence: 'The gateway could not answer.' }
  }
  if (rows.length === 0) {
    return { ...base, tone: 'empty', sentence: `The name has no ${type} records.` }
  }
  const wanted = answer.filter((record) => record.type === question?.type).length
  const noun = NOUNS[type]
  const found =
    wanted > 0 && noun !== undefined ? count(wanted, noun) : count(rows.length, 'record')
  return { ...base, tone: 'good', sentence: `${found}.` }
}

function rowOf({ owner, ttlSeconds, type, rdata }: ResourceRecord): Row {
  const text = formatRdata(type, rdata)
  const base = {
    name: plainName(formatName(owner)),
    type: formatType(type),
    ttl: formatAge(ttlSeconds),
  }
  if (type !== TYPE.SRV || rdata.length < 7)
    return { ...base, data: NAMES.has(type) ? plainName(text) : text, detail: '' }
  const [priority, weight, port] = [0, 2, 4].map((at) => readUint16(rdata, at))
  const data = `port ${port} at ${plainName(formatName(rdata, 6))}`
  return { ...base, data, detail: `priority ${priority}, weight ${weight}` }
}
