/**
 * Messages as lines of text, both ways, so that tests read and write what a person would.
 *
 * The first line of a reply is its response code and flags, `NOERROR aa rd`; then come the records
 * as zone-file text: those of the answer section bare, the others behind `authority: ` and
 * `additional: `; then the OPT record as `edns: SIZE` with `do` behind it, and its options.
 * @module
 */
import { byteAt, formatHex, readUint16 } from '../src/dns/bytes/bytes.ts'
import { formatName, nameOf, ROOT } from '../src/dns/names/name.ts'
import { formatRcode, OPCODE, parseRcode } from '../src/dns/names/rcode.ts'
import { formatClass, parseClass } from '../src/dns/names/rr-class.ts'
import { formatType, parseType, TYPE } from '../src/dns/names/rr-type.ts'
import { type EdnsOption, extendedError, OPTION, parseOptions } from '../src/dns/wire/edns.ts'
import {
  EMPTY_REPLY,
  parseResponse,
  type ResourceRecord,
  writeReply,
} from '../src/dns/wire/message.ts'
import { FLAG, parseQuery, Query } from '../src/dns/wire/query.ts'
import { WireReader } from '../src/dns/wire/rdata-wire.ts'
import { ReplyWriter } from '../src/dns/wire/reply-writer.ts'
import { writeQuery } from '../src/dns/wire/write-query.ts'
import { formatRecord } from '../src/snapshot/records/zone-text.ts'
import { parseRecord } from './parse-record.ts'

const FLAGS: readonly [name: string, bit: number][] = [
  ['aa', FLAG.AA],
  ['tc', FLAG.TC],
  ['rd', FLAG.RD],
  ['ra', FLAG.RA],
  ['ad', FLAG.AD],
  ['cd', FLAG.CD],
]

/** Formats a reply. @throws {TypeError} when it does not parse */
export function formatReply(bytes: Uint8Array): string[] {
  const reply = parseResponse(bytes)
  if (reply === undefined) throw new TypeError(`Not a response: ${formatHex(bytes)}`)
  return [
    [formatRcode(reply.rcode), ...flagNames(readUint16(bytes, 2))].join(' '),
    ...reply.answer.map(formatRecord),
    ...reply.authority.map((record) => `authority: ${formatRecord(record)}`),
    ...reply.additional.map((record) => `additional: ${formatRecord(record)}`),
    ...formatOpt(bytes),
  ]
}

/**
 * Writes a reply to a query from lines as `formatReply` makes them; `ede: CODE TEXT` and
 * `option CODE: HEX` stand for options.
 * @throws {TypeError} when a line is none of these
 */
export function writeReplyText(lines: readonly string[], message: Uint8Array): Uint8Array {
  const { query } = readQuestion(message)
  const [head = '', ...rest] = lines
  const [rcodeText = '', ...flags] = head.split(' ')
  const records = (prefix: string): ResourceRecord[] => recordsOf(rest, prefix)
  const reply = {
    ...EMPTY_REPLY,
    rcode: parseRcode(rcodeText) ?? refuse(head),
    authoritative: flags.includes('aa'),
    recursionAvailable: flags.includes('ra'),
    authenticData: flags.includes('ad'),
    truncated: flags.includes('tc'),
    answer: records(''),
    authority: records('authority: '),
    additional: records('additional: '),
    options: rest.flatMap(optionOf),
  }
  const writer = new ReplyWriter()
  return writer.bytes.slice(0, writeReply(writer, query, reply, { bytesMax: 65535 }))
}

/** Formats a query in one line: `www.example.org. IN A rd edns=1232 do`; `NOTIFY` before others. */
export function formatQuestion(message: Uint8Array): string {
  const { query, operation } = readQuestion(message)
  const words = [formatName(message, 12), formatClass(query.class), formatType(query.type)]
  const edns = query.hasEdns ? [`edns=${query.udpBytes}`] : []
  const dnssec = query.wantsDnssec ? ['do'] : []
  const options = parseOptions(message, query.optionsStart, query.optionsBytes)
  const texts = options.map(({ code, data }) => `option=${code}:${formatHex(data)}`)
  return [...operation, ...words, ...flagNames(query.flags), ...edns, ...dnssec, ...texts].join(' ')
}

function readQuestion(message: Uint8Array): { query: Query; operation: string[] } {
  const query = parseQuery(message)
  if (query.kind === 'query') return { query, operation: [] }
  const notice = parseQuery(message, new Query(), OPCODE.NOTIFY)
  if (notice.kind === 'query') return { query: notice, operation: ['NOTIFY'] }
  throw new TypeError(`Not a query: ${formatHex(message)}`)
}

/** What a question's words say beside its name, class and type. */
export type QuestionWords = ReadonlyMap<string, string>

/**
 * Reads a question as one would give it to dig: `www.example.org [CLASS] TYPE +do +edns=4096 …`.
 * A word `+a=b` is `a` with the value `b`.
 */
export function parseQuestion(text: string): { message: Uint8Array; words: QuestionWords } {
  const all = text.split(' ')
  const [name = '', ...types] = all.filter((word) => !word.startsWith('+'))
  const pairs = all
    .filter((word) => word.startsWith('+'))
    .map((word): [string, string] => {
      const [key = '', value = ''] = word.slice(1).split('=')
      return [key, value]
    })
  const words = new Map(pairs)
  const wantsOpt = ['edns', 'do', 'nsid', 'padding', 'cookie', 'option'].some((key) =>
    words.has(key),
  )
  const message = writeQuery({
    name: nameOf(name),
    type: parseType(types.at(-1) ?? '') ?? refuse(text),
    class: types.length === 1 ? 1 : (parseClass(types[0] ?? '') ?? refuse(text)),
    id: Number(words.get('id') ?? 4660),
    flags: queryFlags(words),
    wantsDnssec: words.has('do'),
    options: queryOptions(words),
    ...(wantsOpt ? { udpBytes: Number(words.get('edns') || 1232) } : {}),
  })
  return { message, words }
}

function queryFlags(words: QuestionWords): number {
  const flag = (word: string, bit: number): number => (words.has(word) ? bit : 0)
  return (words.has('nord') ? 0 : FLAG.RD) | flag('ad', FLAG.AD) | flag('cd', FLAG.CD)
}

function queryOptions(words: QuestionWords): EdnsOption[] {
  const option = (word: string, code: number, size: number): EdnsOption[] =>
    words.has(word) ? [{ code, data: new Uint8Array(size) }] : []
  return [
    ...option('nsid', OPTION.NSID, 0),
    ...option('padding', OPTION.PADDING, 0),
    ...option('cookie', OPTION.COOKIE, 8),
    ...(words.has('option') ? optionOf(`option ${words.get('option')?.replace(':', ': ')}`) : []),
  ]
}

function refuse(text: string): never {
  throw new TypeError(`Cannot read "${text}"`)
}

function flagNames(flags: number): string[] {
  return FLAGS.flatMap(([name, bit]) => ((flags & bit) === 0 ? [] : [name]))
}

function recordsOf(lines: readonly string[], prefix: string): ResourceRecord[] {
  const isRecord = (line: string): boolean =>
    prefix === '' ? !/^[a-z]+( \d+)?: /.test(line) : line.startsWith(prefix)
  return lines
    .filter(isRecord)
    .map((line) => parseRecord(line.slice(prefix.length), ROOT) ?? refuse(line))
}

function optionOf(line: string): EdnsOption[] {
  const [, code, text] = /^ede: (\d+) ?(.*)$/.exec(line) ?? []
  if (code !== undefined) return [extendedError(Number(code), text)]
  const [, number, hex = ''] = /^option (\d+): ([0-9a-f]*)$/.exec(line) ?? []
  return number === undefined ? [] : [{ code: Number(number), data: Buffer.from(hex, 'hex') }]
}

/** The OPT record's own fields, which a response as records does not keep. */
function formatOpt(bytes: Uint8Array): string[] {
  const reader = new WireReader(bytes, 4)
  const questions = reader.uint16()
  let records = reader.uint16() + reader.uint16() + reader.uint16()
  for (let left = questions; left > 0; left--) {
    reader.name()
    reader.uint32()
  }
  for (; records > 0; records--) {
    reader.name()
    const type = reader.uint16()
    const udpBytes = reader.uint16()
    const flags = reader.uint32()
    const rdata = reader.take(reader.uint16())
    if (type !== TYPE.OPT) continue
    const dnssec = (flags & 0x8000) === 0 ? '' : ' do'
    return [`edns: ${udpBytes}${dnssec}`, ...parseOptions(rdata, 0, rdata.length).map(formatOption)]
  }
  return []
}

function formatOption({ code, data }: EdnsOption): string {
  if (code === OPTION.NSID) return `nsid: ${formatHex(data)}`.trimEnd()
  if (code === OPTION.PADDING) return `padding: ${data.length}`
  if (code !== OPTION.EXTENDED_ERROR) return `option ${code}: ${formatHex(data)}`
  const error = (byteAt(data, 0) << 8) | byteAt(data, 1)
  return `ede: ${error} ${new TextDecoder().decode(data.subarray(2))}`.trimEnd()
}
