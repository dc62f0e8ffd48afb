/**
 * Finds the field that makes rdata of a zone file invalid, to name it and quote nothing else.
 * @module
 */
import { parseHex } from '../bytes/bytes.ts'
import { formatType, TYPE } from '../names/rr-type.ts'
import { type Field, rdataSchema } from '../rdata/rdata-schema.ts'
import { fieldText } from './rdata-text.ts'

/** A mistake in rdata. */
export type RdataMistake = {
  /** The word that is wrong; the number of words if one is missing. */
  readonly index: number
  readonly message: string
}

/** Characters of a wrong word that a message quotes. */
const QUOTED_MAX = 60

const TLSA = ['usage', 'selector', 'matching type', 'certificate data']
const DS = ['key tag', 'algorithm', 'digest type', 'digest']
const DNSKEY = ['flags', 'protocol', 'algorithm', 'public key']
const SVCB = ['priority', 'target', 'parameters']
const TARGET = ['target']
const HOST = ['preference', 'host']
const ADDRESS = ['address']
const TEXT = ['text']

/** Fields by type, as their RFCs call them. */
const NAMES: ReadonlyMap<number, readonly string[]> = new Map([
  [TYPE.A, ADDRESS],
  [TYPE.AAAA, ADDRESS],
  [TYPE.EUI48, ADDRESS],
  [TYPE.EUI64, ADDRESS],
  [TYPE.NS, ['name server']],
  [TYPE.CNAME, TARGET],
  [TYPE.DNAME, TARGET],
  [TYPE.PTR, TARGET],
  [TYPE.SOA, ['primary', 'mailbox', 'serial', 'refresh', 'retry', 'expire', 'minimum']],
  [TYPE.HINFO, ['CPU', 'OS']],
  [TYPE.MINFO, ['mailbox', 'error mailbox']],
  [TYPE.MX, HOST],
  [TYPE.RT, HOST],
  [TYPE.KX, HOST],
  [TYPE.LP, HOST],
  [TYPE.PX, ['preference', 'RFC 822 domain', 'X.400 domain']],
  [TYPE.TXT, TEXT],
  [TYPE.SPF, TEXT],
  [TYPE.RESINFO, TEXT],
  [TYPE.RP, ['mailbox', 'text name']],
  [TYPE.AFSDB, ['subtype', 'host']],
  [TYPE.SRV, ['priority', 'weight', 'port', 'target']],
  [TYPE.NAPTR, ['order', 'preference', 'flags', 'services', 'regular expression', 'replacement']],
  [TYPE.CERT, ['type', 'key tag', 'algorithm', 'certificate']],
  [TYPE.DS, DS],
  [TYPE.CDS, DS],
  [TYPE.SSHFP, ['algorithm', 'fingerprint type', 'fingerprint']],
  [
    TYPE.RRSIG,
    [
      ...['type', 'algorithm', 'labels', 'original TTL', 'expiration', 'inception', 'key tag'],
      ...['signer', 'signature'],
    ],
  ],
  [TYPE.NSEC, ['next name', 'types']],
  [TYPE.KEY, DNSKEY],
  [TYPE.DNSKEY, DNSKEY],
  [TYPE.CDNSKEY, DNSKEY],
  [TYPE.DHCID, ['identifier']],
  [TYPE.OPENPGPKEY, ['key']],
  [TYPE.TLSA, TLSA],
  [TYPE.SMIMEA, TLSA],
  [TYPE.CSYNC, ['serial', 'flags', 'types']],
  [TYPE.ZONEMD, ['serial', 'scheme', 'hash algorithm', 'digest']],
  [TYPE.SVCB, SVCB],
  [TYPE.HTTPS, SVCB],
  [TYPE.NID, ['preference', 'node identifier']],
  [TYPE.L32, ['preference', 'locator']],
  [TYPE.L64, ['preference', 'locator']],
  [TYPE.URI, ['priority', 'weight', 'target']],
  [TYPE.CAA, ['flags', 'tag', 'value']],
])

const WANTED: Readonly<Record<Field, string>> = {
  u8: 'a number from 0 to 255',
  u16: 'a number from 0 to 65535',
  u32: 'a number from 0 to 4294967295',
  seconds: 'seconds, or a time such as 1h30m',
  time: 'a time such as 20260101000000',
  type: 'a type of records',
  algorithm: 'the number or the mnemonic of an algorithm',
  certificate: 'the number or the mnemonic of a type of certificates',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  eui48: 'six bytes such as 00-00-5e-00-53-2a',
  eui64: 'eight bytes such as 00-00-5e-ef-10-00-00-2a',
  node: 'four groups such as 0014:4fff:ff20:ee64',
  name: 'a domain name',
  pointable: 'a domain name',
  string: 'text of at most 255 bytes',
  strings: 'text',
  tag: 'letters and digits',
  rest: 'text',
  hex: 'bytes in hexadecimal',
  base64: 'bytes in base64',
  params: 'a service parameter, each once',
  types: 'a type of records',
}

/** Returns the first mistake in words that are not rdata of a type. */
export function findRdataMistake(
  type: number,
  words: readonly string[],
  origin: Uint8Array,
): RdataMistake {
  const schema = rdataSchema(type)
  if (words[0] === '\\#') return findOpaqueMistake(type, words)
  if (words.length > 0 && schema !== undefined) {
    const found = findFieldMistake(type, schema, { words, origin })
    if (found !== undefined) return found
  }
  return wholeMistake(type, words)
}

function findFieldMistake(
  type: number,
  schema: readonly Field[],
  { words, origin }: { readonly words: readonly string[]; readonly origin: Uint8Array },
): RdataMistake | undefined {
  const of = ofType(type)
  let next = 0
  for (const [i, field] of schema.entries()) {
    const name = NAMES.get(type)?.[i] ?? `field ${i + 1}`
    const { parse, isRepeated = false, isOptional = false } = fieldText(field)
    const taken = isRepeated ? words.slice(next) : words.slice(next, next + 1)
    if (taken.length === 0 && !isOptional) {
      return { index: next, message: `${of} lacks its ${name}, ${WANTED[field]}` }
    }
    if (parse(taken, origin) === undefined) {
      const wrong = wrongAmong(field, taken, origin)
      if (wrong === undefined) return undefined
      const index = next + wrong
      const found = quote(words[index] ?? '')
      return { index, message: `the ${name} of ${of} is ${found}, expected ${WANTED[field]}` }
    }
    next += taken.length
  }
  if (next === words.length) return undefined
  return { index: next, message: `${of} has ${quote(words[next] ?? '')} after its last field` }
}

/**
 * Returns the index of the word that is wrong in a field of several words; `undefined` if there are
 * too many strings.
 */
function wrongAmong(
  field: Field,
  words: readonly string[],
  origin: Uint8Array,
): number | undefined {
  if (words.length === 1) return 0
  const digits = field === 'hex' ? /^[0-9a-f]*$/i : /^[0-9a-z+/]*={0,2}$/i
  const isGroup = field === 'hex' || field === 'base64'
  const isWrong = (word: string): boolean =>
    isGroup ? !digits.test(word) : fieldText(field).parse([word], origin) === undefined
  const found = words.findIndex(isWrong)
  if (found >= 0) return found
  // Each word may be valid by itself, as a repeated parameter is.
  return field === 'strings' ? undefined : words.length - 1
}

/** Opaque data: `\#`, its length and its bytes (RFC 3597 §5). */
function findOpaqueMistake(type: number, words: readonly string[]): RdataMistake {
  const [, length = '', ...digits] = words
  const of = `the opaque data of ${ofType(type)}`
  const bytes = parseHex(digits.join(''))
  if (!/^(0|[1-9]\d*)$/.test(length)) {
    return { index: 1, message: `the length of ${of} is ${quote(length)}, expected a number` }
  }
  if (bytes === undefined) {
    const index = digits.findIndex((word) => !/^[0-9a-f]*$/i.test(word))
    const found = quote(digits[Math.max(0, index)] ?? '')
    const message = `${of} has ${found}, expected ${WANTED.hex}`
    return { index: 2 + Math.max(0, index), message }
  }
  if (String(bytes.length) !== length) {
    const message = `the length of ${of} is ${length}, but it has ${bytes.length} bytes`
    return { index: 1, message }
  }
  return { index: 1, message: `${of} is not valid for this type` }
}

function wholeMistake(type: number, words: readonly string[]): RdataMistake {
  const shown = words.join(' ')
  const reason = shown === '' ? 'has no data' : `cannot have ${quote(shown)} for its data`
  return { index: 0, message: `${ofType(type)} ${reason}` }
}

function ofType(type: number): string {
  return `a ${formatType(type)} record`
}

function quote(text: string): string {
  return `"${text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text}"`
}
