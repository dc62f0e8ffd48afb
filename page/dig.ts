/**
 * A response as `dig` prints it.
 * @module
 */

import { formatHex, readUint16 } from '../src/dns/bytes/bytes.ts'
import { formatName } from '../src/dns/names/name.ts'
import { formatRcode, OPCODE } from '../src/dns/names/rcode.ts'
import { formatClass } from '../src/dns/names/rr-class.ts'
import { formatType, TYPE } from '../src/dns/names/rr-type.ts'
import { OPTION, readExtendedError } from '../src/dns/wire/edns.ts'
import { parseResponse, type ResourceRecord } from '../src/dns/wire/message.ts'
import { FLAG } from '../src/dns/wire/query.ts'
import { formatRdata } from '../src/dns/wire/rdata-text.ts'
import { visible } from './visible.ts'

/** What `dig` prints beside the message. */
export type Exchange = {
  readonly reply: Uint8Array
  readonly tookMs: number
  readonly server: string
  readonly when: string
}

const SECTIONS = ['QUERY', 'ANSWER', 'AUTHORITY', 'ADDITIONAL']
/** Columns of a tab. */
const TAB = 8

/** Formats an exchange; `undefined` for bytes that are not a DNS response. */
export function formatDig({ reply, tookMs, server, when }: Exchange): string | undefined {
  const response = parseResponse(reply)
  if (response === undefined) return undefined
  const { question, answer, authority, additional, options, rcode, id } = response
  const bits = readUint16(reply, 2)
  const set = Object.entries(FLAG).filter(([, bit]) => (bits & bit) !== 0)
  const flags = set.map(([name]) => name.toLowerCase())
  const opcode = Object.entries(OPCODE).find(([, code]) => code === ((bits >>> 11) & 15))?.[0]
  const counts = [4, 6, 8, 10].map((at) => readUint16(reply, at))
  const sizes = SECTIONS.map((name, i) => `${name}: ${counts[i]}`)
  const hasOpt = (counts[3] ?? 0) > additional.length
  const extended = options.filter(({ code }) => code === OPTION.EXTENDED_ERROR)
  const pseudo = [
    '',
    ';; OPT PSEUDOSECTION:',
    '; EDNS: version: 0, flags:',
    ...extended.map(({ data }) => formatError(data)),
  ]
  const asked = question && [
    ';; QUESTION SECTION:',
    columns(`;${formatName(question.name)}`, [
      '',
      formatClass(question.class),
      formatType(question.type),
    ]),
  ]
  return [
    ';; Got answer:',
    `;; ->>HEADER<<- opcode: ${opcode ?? 'RESERVED'}, status: ${formatRcode(rcode)}, id: ${id}`,
    `;; flags: ${flags.join(' ')}; ${sizes.join(', ')}`,
    ...(hasOpt ? pseudo : ['']),
    ...(asked ?? []),
    ...section('ANSWER', answer),
    ...section('AUTHORITY', authority),
    ...section('ADDITIONAL', additional),
    '',
    `;; Query time: ${Math.round(tookMs)} msec`,
    `;; SERVER: ${server} (HTTPS)`,
    `;; WHEN: ${when}`,
    `;; MSG SIZE  rcvd: ${reply.length}`,
  ].join('\n')
}

/** Returns the text of the response's extended errors (RFC 8914). */
export function errorTexts(reply: Uint8Array): readonly string[] {
  const options = parseResponse(reply)?.options ?? []
  return options
    .filter(({ code }) => code === OPTION.EXTENDED_ERROR)
    .flatMap(({ data }) => {
      const error = readExtendedError(data)
      if (error === undefined) return []
      return [visible([error.name, error.text].filter((part) => part !== '').join(': '))]
    })
}

function formatError(data: Uint8Array): string {
  const error = readExtendedError(data)
  if (error === undefined) return `; EDE: ${formatHex(data)}`
  const { code, name, text } = error
  const parts = [
    ...(name === '' ? [] : [` (${name})`]),
    ...(text === '' ? [] : [`: (${visible(text)})`]),
  ]
  return `; EDE: ${code}${parts.join('')}`
}

function section(name: string, records: readonly ResourceRecord[]): readonly string[] {
  if (records.length === 0) return []
  return ['', `;; ${name} SECTION:`, ...records.filter(({ type }) => type !== TYPE.OPT).map(line)]
}

function line({ owner, ttlSeconds, type, rdata, class: kind }: ResourceRecord): string {
  const fields = [String(ttlSeconds), formatClass(kind), formatType(type), formatRdata(type, rdata)]
  return columns(formatName(owner), fields)
}

/** Joins by tabs, the first field up to column 24 as dig does. */
function columns(first: string, rest: readonly string[]): string {
  const tabs = Math.max(1, 3 - Math.floor(first.length / TAB))
  const [second, ...others] = rest
  if (second === '') return `${first}${'\t'.repeat(tabs + 1)}${others.join('\t')}`
  return `${first}${'\t'.repeat(tabs)}${rest.join('\t')}`
}
