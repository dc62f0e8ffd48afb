/**
 * Keys of server blocks: `[scheme://]zone[:port]`, where the zone can be a CIDR block
 * (github.com/coredns/coredns, plugin/normalize.go).
 * @module
 */
import { byteAt } from '../dns/bytes/bytes.ts'
import { parseAddress } from '../dns/names/address.ts'
import { nameOf, parseName } from '../dns/names/name.ts'
import { configError, type Position } from './problem.ts'

/** Transport of a server block's queries. */
export type Transport = 'dns' | 'tls' | 'https' | 'grpc'

/** A zone on a port. */
export type ZoneKey = Position & {
  readonly transport: Transport
  /** Absolute, lower case. */
  readonly zone: Uint8Array
  /** `undefined` if the key has none. */
  readonly port: number | undefined
}

const SCHEME = /^([a-z0-9]+):\/\/(.*)$/
/** A sign is one of Go's numbers. */
const PORT = /^(.*):([+-]?\d+)$/
const TRANSPORTS: readonly Transport[] = ['dns', 'tls', 'https', 'grpc']
const UNSUPPORTED_SCHEMES: ReadonlyMap<string, string> = new Map([
  ['quic', 'DNS over QUIC is not supported; put dnsdist in front of "tls://" (docs/fronts.md)'],
  ['https3', 'HTTP/3 is not supported; put dnsdist in front of "https://" (docs/fronts.md)'],
])

/**
 * Parses a key. A CIDR block whose prefix does not end at a byte (IPv6: nibble) gives several
 * zones.
 * @throws {ConfigError} for an invalid key
 */
export function parseZoneKey(text: string, at: Position): ZoneKey[] {
  const [, scheme = 'dns', rest = text] = SCHEME.exec(text) ?? []
  const unsupported = UNSUPPORTED_SCHEMES.get(scheme)
  if (unsupported !== undefined) throw configError(at, `"${text}": ${unsupported}`)
  const transport = TRANSPORTS.find((known) => known === scheme)
  if (transport === undefined) {
    throw configError(at, `"${text}": unknown scheme "${scheme}", expected dns, tls, https or grpc`)
  }
  const [, host = rest, digits] = PORT.exec(rest) ?? []
  if (host === '' && digits !== undefined) {
    throw configError(at, `"${text}" has no zone before the colon; did you mean ".:${digits}"?`)
  }
  const port = digits === undefined ? undefined : Number(digits)
  if (rest.endsWith(':') || (port !== undefined && !(port >= 0 && port <= 65535))) {
    throw configError(at, `"${text}" has no port from 0 to 65535 after the colon`)
  }
  return parseHost(host, at).map((zone) => ({ ...position(at), transport, zone, port }))
}

/**
 * Parses a zone that a directive names: a domain name, or a CIDR block, which gives one or several
 * reverse zones. Ignores a scheme and a port (plugin/normalize.go, `NormalizeExact`).
 * @throws {ConfigError} for other text
 */
export function parseZones(text: string, at: Position): Uint8Array[] {
  const rest = text.replace(/^(?:dns|tls|https|https3|grpc|quic):\/\//, '')
  const [, host = rest] = PORT.exec(rest) ?? []
  if (rest.endsWith(':')) throw configError(at, `"${text}" has nothing after the colon`)
  return parseHost(host, at)
}

function parseHost(text: string, at: Position): Uint8Array[] {
  if (/^[^/]+\/\d+$/.test(text)) {
    const zones = parseAddressBlock(text)
    if (zones !== undefined) return zones
  }
  const zone = parseName(text.toLowerCase())
  if (zone === undefined) {
    throw configError(at, `"${text}" is not a domain name${hintFor(text)}`)
  }
  return [zone]
}

/** Returns a suggestion for text that is not a domain name; '' for none. */
function hintFor(text: string): string {
  const [, digits] = /^\.(\d+)$/.exec(text) ?? []
  if (digits !== undefined) return `; did you mean ".:${digits}"?`
  const ascii = /[^\0-\x7f]/.test(text) ? URL.parse(`http://${text}`)?.hostname : undefined
  if (ascii !== undefined) return `; in ASCII it is "${ascii}"`
  if (/^\.[^.]/.test(text) && parseName(text.slice(1)) !== undefined) {
    return `; did you mean "${text.slice(1)}"?`
  }
  if (text === '') return '; the root is "."'
  return text.split('.').some((label) => label.length > 63) ? ': a label has over 63 bytes' : ''
}

function position({ file, line, column }: Position): Position {
  return { file, line, column }
}

/** Returns the reverse zones of a CIDR block, in the order of the addresses. */
function parseAddressBlock(text: string): Uint8Array[] | undefined {
  const [addressText = '', bitsText = ''] = text.split('/')
  const address = parseAddress(addressText)
  const bits = Number(bitsText)
  if (address === undefined || bits > 8 * address.length) return undefined
  const step = address.length === 4 ? 8 : 4
  const borderBits = Math.ceil(bits / step) * step
  return Array.from({ length: 2 ** (borderBits - bits) }, (_, i) =>
    reverseZone(address, bits, { i, borderBits, step }),
  )
}

/** Returns the zone of the `i`-th /`borderBits` block within a /`bits` block. */
function reverseZone(
  address: Uint8Array,
  bits: number,
  { i, borderBits, step }: { i: number; borderBits: number; step: number },
): Uint8Array {
  const labels: string[] = []
  for (let from = 0; from < borderBits; from += step) {
    let value = 0
    for (let bit = from; bit < from + step; bit++) {
      const set = bit < bits ? bitOf(address, bit) : (i >>> (borderBits - 1 - bit)) & 1
      value = (value << 1) | set
    }
    labels.push(value.toString(address.length === 4 ? 10 : 16))
  }
  const tree = address.length === 4 ? 'in-addr.arpa' : 'ip6.arpa'
  return nameOf([...labels.reverse(), tree].join('.'))
}

function bitOf(address: Uint8Array, bit: number): number {
  return (byteAt(address, bit >>> 3) >>> (7 - (bit & 7))) & 1
}
