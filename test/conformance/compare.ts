/**
 * Compares an answer with what CoreDNS answered. Letter case of names in records is free (RFC 4343
 * §2), as are the order of records, our own UDP size (RFC 6891 §6.2.3), padding, and the SOA
 * serial. An OPT record in an answer to a query without one need not be there (RFC 6891 §7), nor a
 * record for the second time (RFC 2181 §5). A response over UDP that would be over 1,232 bytes may
 * be cut (RFC 9715 §3.1), whatever the client says that it takes. Operations other than QUERY need
 * not be implemented, and a message that CoreDNS fails at may be called malformed (RFC 1035
 * §4.1.1).
 * @module
 */
import { formatHex, readUint16 } from '../../src/dns/bytes/bytes.ts'
import { UDP_BYTES_ADVERTISED } from '../../src/dns/names/limits.ts'
import { formatName } from '../../src/dns/names/name.ts'
import { formatRcode } from '../../src/dns/names/rcode.ts'
import { formatClass } from '../../src/dns/names/rr-class.ts'
import { formatType, TYPE } from '../../src/dns/names/rr-type.ts'
import { OPTION, parseOptions } from '../../src/dns/wire/edns.ts'
import { parseResponse, type ResourceRecord, type Response } from '../../src/dns/wire/message.ts'
import { FLAG } from '../../src/dns/wire/query.ts'
import { WireReader } from '../../src/dns/wire/rdata-wire.ts'
import { formatRecord } from '../../src/snapshot/records/zone-text.ts'
import type { Case, Expectation, RecordedEdns } from './scenario.ts'

/** An answer, in the words of the recordings. */
export type Answer = Required<
  Pick<Expectation, 'rcode' | 'aa' | 'tc' | 'ra' | 'rd' | 'ad' | 'cd'>
> & {
  readonly question: readonly (readonly string[])[]
  readonly answer: readonly string[]
  readonly authority: readonly string[]
  readonly additional: readonly string[]
  readonly edns: RecordedEdns | undefined
}

const SECTIONS = ['answer', 'authority', 'additional'] as const
/** Options of the client's that CoreDNS sends back as they came, with no meaning. */
const MIRRORED: ReadonlySet<number> = new Set([
  OPTION.EXPIRE,
  OPTION.COOKIE,
  OPTION.KEEPALIVE,
  OPTION.PADDING,
])
const HEADER = ['rcode', 'aa', 'tc', 'ra', 'rd', 'ad', 'cd', 'question'] as const
const NAME_TYPES: ReadonlySet<string> = new Set('CNAME NS PTR SRV SOA MX DNAME'.split(' '))

/** How a case was asked, beyond what it says. */
type HowAsked = {
  /** Over HTTPS nothing is cut, and sizes mean nothing. */
  readonly isDoh?: boolean
  /** How much later than recorded: on a busy machine, what a cache keeps is older, or younger. */
  readonly lateSeconds?: number
}

/**
 * Lists what is wrong with an answer; nothing when it is as one of those that are accepted.
 * @param messages of the reply: none when there was none, several of a transfer
 */
export function differences(
  recorded: Case,
  messages: readonly Uint8Array[],
  { isDoh = false, lateSeconds = 0 }: HowAsked = {},
): string[] {
  const [message, ...behind] = messages
  const answer = message && readAnswer(message, behind)
  const timely = lateSeconds > 0 ? { ...recorded, ttl_late: lateSeconds } : recorded
  const allowed = message && isCutToFit(recorded, message) ? cutShort(timely) : timely
  return answerDifferences(allowed, answer, isDoh)
}

/** Whether a message is as full as one of 1,232 bytes can be. */
function isCutToFit({ transport, edns }: Case, message: Uint8Array): boolean {
  const isFull = message.length <= UDP_BYTES_ADVERTISED && message.length > 1100
  return transport === 'udp' && (edns?.size ?? 0) > UDP_BYTES_ADVERTISED && isFull
}

/** The case with a further response: cut, with as many of the records as there is room for. */
function cutShort({ any_of = [], ...recorded }: Case): Case {
  const { count: _, ...whole } = recorded.expect
  return { ...recorded, any_of: [...any_of, { ...whole, tc: true, subset: true }] }
}

/** As `differences`, of an answer that was read. */
export function answerDifferences(
  recorded: Case,
  answer: Answer | undefined,
  isDoh = false,
): string[] {
  let fewest: string[] | undefined
  for (const expected of [recorded.expect, ...(recorded.any_of ?? []), ...refusals(recorded)]) {
    const found = compare(recorded, expected, answer, isDoh)
    if (found.length === 0) return []
    if (fewest === undefined || found.length < fewest.length) fewest = found
  }
  return fewest ?? []
}

/** Refusals that do as well as the answer. */
function refusals({ opcode = 'QUERY', raw, expect }: Case): Expectation[] {
  const bare = { aa: false, tc: false, ra: false, question: [] }
  if (opcode !== 'QUERY') return [{ ...bare, rcode: 'NOTIMP' }]
  return raw !== undefined && expect.rcode === 'SERVFAIL' ? [{ ...bare, rcode: 'FORMERR' }] : []
}

/**
 * Reads an answer.
 * @param behind further messages, whose answer records come behind the first one's
 * @throws {TypeError} when it is malformed
 */
export function readAnswer(message: Uint8Array, behind: readonly Uint8Array[] = []): Answer {
  const response = readResponse(message)
  const flags = readUint16(message, 2)
  const has = (flag: number): boolean => (flags & flag) !== 0
  const { question } = response
  return {
    rcode: formatRcode(response.rcode),
    aa: has(FLAG.AA),
    tc: has(FLAG.TC),
    ra: has(FLAG.RA),
    rd: has(FLAG.RD),
    ad: has(FLAG.AD),
    cd: has(FLAG.CD),
    question: question
      ? [[formatName(question.name), formatType(question.type), formatClass(question.class)]]
      : [],
    answer: [response, ...behind.map(readResponse)].flatMap(({ answer }) => texts(answer)),
    authority: texts(response.authority),
    additional: texts(response.additional),
    edns: readEdns(message),
  }
}

function readResponse(message: Uint8Array): Response {
  const response = parseResponse(message)
  if (response === undefined) throw new TypeError(`malformed: ${formatHex(message)}`)
  return response
}

function texts(records: readonly ResourceRecord[]): string[] {
  return records.map(formatRecord)
}

function compare(
  recorded: Case,
  expected: Expectation,
  answer: Answer | undefined,
  isDoh: boolean,
): string[] {
  if (expected.drop === true) return answer === undefined ? [] : ['answered, expected no answer']
  if (answer === undefined) return ['no answer']
  return [
    ...compareHeader(recorded, expected, answer, isDoh),
    ...SECTIONS.flatMap((name) => compareSection(name, { recorded, expected, answer, isDoh })),
    ...compareOrder(expected, answer),
    ...compareEdns(recorded, expected.edns, answer.edns),
  ]
}

function compareHeader(
  recorded: Case,
  expected: Expectation,
  answer: Answer,
  isDoh: boolean,
): string[] {
  const { rd = true, cd = false, raw, qname, qtype, qclass = 'IN' } = recorded
  const wanted = {
    rcode: expected.rcode,
    // An answer from a cache need not be authoritative (RFC 1034 §6.2.3).
    aa: recorded.ttl_max === undefined ? expected.aa : answer.aa,
    tc: isDoh ? answer.tc : expected.tc,
    ra: expected.ra,
    rd: expected.rd ?? rd,
    ad: expected.ad ?? false,
    cd: expected.cd ?? cd,
    question: raw === undefined ? (expected.question ?? [[qname, qtype, qclass]]) : answer.question,
  }
  return HEADER.flatMap((name) => {
    if (answer[name] === wanted[name]) return []
    const [a, b] = [JSON.stringify(answer[name]), JSON.stringify(wanted[name])]
    return a === b ? [] : [`${name}: ${a}, expected ${b}`]
  })
}

function compareSection(
  name: (typeof SECTIONS)[number],
  {
    recorded,
    expected,
    answer,
    isDoh,
  }: {
    readonly recorded: Case
    readonly expected: Expectation
    readonly answer: Answer
    readonly isDoh: boolean
  },
): string[] {
  const isSubset = expected.subset === true && !isDoh
  const [left, surplus] = unpaired(expected[name] ?? [], answer[name])
  const found: string[] = []
  for (const record of surplus) {
    const index = left.findIndex((wanted) => isSame(wanted, record, recorded))
    if (index < 0) found.push(`${name}: unexpected ${record}`)
    else left.splice(index, 1)
  }
  const count = isSubset ? expected.count?.[name] : undefined
  const counts = typeof count === 'number' ? [count] : count
  if (counts !== undefined && !counts.includes(answer[name].length)) {
    found.push(`${name}: ${answer[name].length} records, expected ${counts.join(' or ')}`)
  }
  if (isSubset) return found
  const said = new Set(left.length > 0 ? answer[name].map(fold) : [])
  const missing = left.filter((record) => !said.has(record))
  return [...found, ...missing.map((record) => `${name}: missing ${record}`)]
}

/** Folds the records that only one of two sections has letter by letter: there are few. */
function unpaired(wanted: readonly string[], records: readonly string[]): [string[], string[]] {
  const left = [...wanted]
  const surplus = records.filter((record) => {
    const index = left.indexOf(record)
    if (index >= 0) left.splice(index, 1)
    return index < 0
  })
  return [left.map(fold), surplus.map(fold)]
}

/** TTLs from a cache may be up to `ttl_max` lower, and one higher for the second that passes. */
function isSame(
  wanted: string,
  record: string,
  { ttl_max: ttlMax, ttl_late: late = 0 }: Case,
): boolean {
  const [owner, ttl, ...rest] = wanted.split(' ')
  const [foundOwner, foundTtl, ...foundRest] = record.split(' ')
  if (owner !== foundOwner || rest.length !== foundRest.length) return false
  const isEqual = rest.every((word, i) => word === 'SERIAL' || word === foundRest[i])
  const lower = Number(ttl) - Number(foundTtl)
  const most = late + (ttlMax ?? 0)
  const least = ttlMax === undefined ? -late : -1 - late
  return isEqual && least <= lower && lower <= most
}

function compareOrder({ chain, first }: Expectation, { answer }: Answer): string[] {
  const withoutTtl = (record: string): string => fold(record).replace(/^(\S+) \d+ /, '$1 ')
  const found: string[] = []
  const begin = [...new Set(answer.map(withoutTtl))]
  const links = new Set(chain?.map(withoutTtl))
  if ([...links].some((link, i) => link !== begin[i])) found.push('chain order')
  if (first !== undefined) {
    const addresses = answer.filter((record) => / (A|AAAA) /.test(record)).slice(0, first.length)
    if (JSON.stringify(addresses.sort()) !== JSON.stringify([...first].sort())) {
      found.push(`first: ${addresses.join('; ')}`)
    }
  }
  return found
}

function compareEdns(
  { edns: asked, raw }: Case,
  expected: RecordedEdns | undefined,
  found: RecordedEdns | undefined,
): string[] {
  // A raw message without additional records has no OPT record either.
  const isBare = asked === undefined && (raw === undefined || raw.startsWith('0000', 20))
  if (isBare && found === undefined) return []
  if ((expected === undefined) !== (found === undefined)) {
    return [`edns: ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`]
  }
  if (expected === undefined || found === undefined) return []
  const options = ({ options = [] }: RecordedEdns): string => {
    const kept = options.filter(({ code }) => !MIRRORED.has(code))
    return JSON.stringify(kept.map(({ code, data = '' }) => [code, data]))
  }
  return [
    ...(found.do === expected.do ? [] : [`edns do: ${found.do}`]),
    ...(512 <= found.size && found.size <= 4096 ? [] : [`edns size: ${found.size}`]),
    ...(options(found) === options(expected) ? [] : [`edns options: ${options(found)}`]),
  ]
}

function fold(record: string): string {
  const [owner = '', ttl = '', rrClass = '', type = '', ...rdata] = record.split(' ')
  const isName = NAME_TYPES.has(type)
  const words = rdata.map((word) => (isName && word !== 'SERIAL' ? word.toLowerCase() : word))
  return [owner.toLowerCase(), ttl, rrClass, type, ...words].join(' ')
}

function readEdns(message: Uint8Array): RecordedEdns | undefined {
  const reader = new WireReader(message, 4)
  const questions = reader.uint16()
  const records = reader.uint16() + reader.uint16() + reader.uint16()
  for (let left = questions; left > 0; left--) {
    reader.name()
    reader.uint32()
  }
  for (let left = records; left > 0; left--) {
    reader.name()
    const [type, size, flags] = [reader.uint16(), reader.uint16(), reader.uint32()]
    const rdata = reader.take(reader.uint16())
    if (type !== TYPE.OPT) continue
    const options = parseOptions(rdata, 0, rdata.length).map(({ code, data }) => ({
      code,
      data: formatHex(data),
    }))
    return { size, do: (flags & 0x8000) !== 0, version: (flags >>> 16) & 255, options }
  }
  return undefined
}
