/**
 * The queries of ISC's genreport, and what a response must be like (RFC 8906 §8). What is wrong
 * with a response is said in words of its own; a compliant one has none.
 * @module
 */
import packet from 'dns-packet'

/** A query. */
export type ComplianceCase = {
  readonly name: string
  readonly type: number
  /** Flags of the header, without the operation. */
  readonly flags: number
  readonly opcode: number
  readonly isTcp: boolean
  readonly edns: Edns | undefined
}

/** An OPT record. */
export type Edns = {
  readonly udpBytes: number
  readonly version: number
  readonly flags: number
  /** Options as they are on the wire. */
  readonly options: Buffer
}

const TYPE = { SOA: 6, OPT: 41, DNSKEY: 48, TYPE666: 666, TYPE1000: 1000 }
const FLAG = { AA: 0x400, TC: 0x200, RD: 0x100, RA: 0x80, Z: 0x40, AD: 0x20, CD: 0x10 }
const EVERY_FLAG = 0x7f0
const DO = 0x8000
const UNKNOWN_FLAG = 0x80
const UNKNOWN_OPCODE = 15
const RCODE = { NOERROR: 0, NOTIMP: 4, BADVERS: 16 }
/** Types that have been given numbers, but for those of queries alone. */
const TYPES = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
  28, 29, 30, 33, 35, 36, 37, 38, 39, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 55, 59, 60,
  61, 99, 104, 105, 106, 107, 108, 109, 256, 257, 258, 259, 32_769,
]
const OPTION = {
  nsid: Buffer.of(0, 3, 0, 0),
  subnet: Buffer.of(0, 8, 0, 4, 0, 1, 0, 0),
  expire: Buffer.of(0, 9, 0, 0),
  cookie: Buffer.of(0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8),
  unknown: Buffer.of(0, 100, 0, 0),
}
const NO_OPTIONS = Buffer.alloc(0)
const EVERY_OPTION = Buffer.concat([OPTION.nsid, OPTION.subnet, OPTION.expire, OPTION.cookie])

/** All queries. */
export const COMPLIANCE: readonly ComplianceCase[] = [
  one('dns'),
  one('aa', { flags: FLAG.AA }),
  one('ad', { flags: FLAG.AD }),
  one('cd', { flags: FLAG.CD }),
  one('ra', { flags: FLAG.RA }),
  one('rd', { flags: FLAG.RD }),
  one('tc', { flags: FLAG.TC }),
  one('zflag', { flags: FLAG.Z }),
  one('opcode', { opcode: UNKNOWN_OPCODE }),
  one('opcodeflg', { opcode: UNKNOWN_OPCODE, flags: EVERY_FLAG }),
  one('type666', { type: TYPE.TYPE666 }),
  one('tcp', { isTcp: true }),
  one('edns', { edns: edns() }),
  one('edns1', { edns: edns({ version: 1 }) }),
  one('edns@512', { type: TYPE.DNSKEY, edns: edns({ udpBytes: 512, flags: DO }) }),
  one('ednsopt', { edns: edns({ options: OPTION.unknown }) }),
  one('edns1opt', { edns: edns({ version: 1, options: OPTION.unknown }) }),
  one('do', { edns: edns({ flags: DO }) }),
  one('docd', { flags: FLAG.CD, edns: edns({ flags: DO }) }),
  one('edns1do', { edns: edns({ version: 1, flags: DO }) }),
  one('ednsflags', { edns: edns({ flags: UNKNOWN_FLAG }) }),
  one('optlist', { edns: edns({ options: EVERY_OPTION }) }),
  ...(['nsid', 'cookie', 'expire', 'subnet'] as const).flatMap((name) => [
    one(`edns${name}`, { edns: edns({ options: OPTION[name] }) }),
    one(`edns1${name}`, { edns: edns({ version: 1, options: OPTION[name] }) }),
  ]),
  one('ednstcp', { type: TYPE.DNSKEY, isTcp: true, edns: edns({ udpBytes: 512, flags: DO }) }),
  one('bind11', { edns: edns({ flags: DO, options: OPTION.cookie }) }),
  one('dig11', { flags: FLAG.RD | FLAG.AD, edns: edns({ options: OPTION.cookie }) }),
  ...[...TYPES, TYPE.TYPE1000].map((type) => one(`TYPE${type}`, { type })),
]

/** Writes a query for a zone's apex; of an unknown operation a header alone. */
export function writeCase(asked: ComplianceCase, zone: string): Buffer {
  const hasQuestion = asked.opcode === 0
  const bits = asked.flags | (asked.opcode << 11)
  const counts = [hasQuestion ? 1 : 0, 0, 0, asked.edns === undefined ? 0 : 1]
  const header = Buffer.from(Uint16Array.of(4711, bits, ...counts).buffer).swap16()
  const question = Buffer.from(Uint16Array.of(asked.type, 1).buffer).swap16()
  return Buffer.concat([
    header,
    ...(hasQuestion ? [writeName(zone), question] : []),
    ...(asked.edns === undefined ? [] : [writeOpt(asked.edns)]),
  ])
}

function writeName(zone: string): Buffer {
  const labels = zone.split('.').flatMap((label) => [Buffer.of(label.length), Buffer.from(label)])
  return Buffer.concat([...labels, Buffer.of(0)])
}

function writeOpt({ udpBytes, version, flags, options }: Edns): Buffer {
  const words = Uint16Array.of(TYPE.OPT, udpBytes, version, flags, options.length)
  return Buffer.concat([Buffer.of(0), Buffer.from(words.buffer).swap16(), options])
}

/** Says what is wrong with a response. */
export function faultsOf(asked: ComplianceCase, response: Buffer | undefined): string[] {
  if (response === undefined) return ['no response']
  const bits = response.readUInt16BE(2)
  const decoded = packet.decode(response)
  const opt = decoded.additionals?.find(({ type }) => type === 'OPT')
  const rcode = (bits & 15) | (isOpt(opt) ? opt.extendedRcode << 4 : 0)
  if (asked.opcode !== 0) return faultsOfUnknown(asked, bits, decoded, rcode)
  const version = asked.edns?.version ?? 0
  const isAnswered = version === 0
  const wanted = isAnswered ? RCODE.NOERROR : RCODE.BADVERS
  const hasSoa = decoded.answers?.some(({ type }) => type === 'SOA') === true
  return [
    ...(rcode === wanted ? [] : [`rcode ${rcode}`]),
    ...((bits & 0x7800) === 0 ? [] : ['another opcode']),
    ...(isAnswered && (bits & FLAG.AA) === 0 ? ['no aa'] : []),
    ...((bits & FLAG.RD) === (asked.flags & FLAG.RD) ? [] : ['rd']),
    ...['RA', 'TC', 'Z', 'AD'].filter((name) => (bits & flagOf(name)) !== 0),
    ...((bits & FLAG.CD & ~asked.flags) === 0 ? [] : ['cd']),
    ...(isAnswered && asked.type === TYPE.SOA && !hasSoa ? ['no soa'] : []),
    ...(isAnswered || decoded.answers?.length === 0 ? [] : ['an answer']),
    ...ednsFaults(asked.edns, isOpt(opt) ? opt : undefined),
  ]
}

function faultsOfUnknown(
  asked: ComplianceCase,
  bits: number,
  decoded: packet.DecodedPacket,
  rcode: number,
): string[] {
  const { questions = [], answers = [], authorities = [], additionals = [] } = decoded
  const count = questions.length + answers.length + authorities.length + additionals.length
  const names = Object.keys(FLAG).filter((name) => (bits & flagOf(name)) !== 0)
  return [
    ...(rcode === RCODE.NOTIMP ? [] : [`rcode ${rcode}`]),
    ...(((bits >>> 11) & 15) === asked.opcode ? [] : ['another opcode']),
    ...(count === 0 ? [] : ['sections that are not empty']),
    ...names,
  ]
}

function ednsFaults(asked: Edns | undefined, opt: packet.OptAnswer | undefined): string[] {
  if (asked === undefined) return opt === undefined ? [] : ['an OPT record']
  if (opt === undefined) return ['no OPT record']
  const isUnknown = opt.options.some(({ code }) => Number(code) === 100)
  return [
    ...(opt.ednsVersion === 0 ? [] : [`version ${opt.ednsVersion}`]),
    ...((opt.flags & ~DO) === 0 ? [] : ['unknown flags']),
    ...((asked.flags & DO) !== 0 && (opt.flags & DO) === 0 ? ['no do'] : []),
    ...(isUnknown ? ['an unknown option'] : []),
  ]
}

function isOpt(record: packet.Answer | undefined): record is packet.OptAnswer {
  return record?.type === 'OPT'
}

function flagOf(name: string): number {
  return Object.entries(FLAG).find(([known]) => known === name)?.[1] ?? 0
}

function edns(options: Partial<Edns> = {}): Edns {
  return { udpBytes: 4096, version: 0, flags: 0, options: NO_OPTIONS, ...options }
}

function one(name: string, options: Partial<ComplianceCase> = {}): ComplianceCase {
  return { name, type: TYPE.SOA, flags: 0, opcode: 0, isTcp: false, edns: undefined, ...options }
}
