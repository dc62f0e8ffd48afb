/**
 * Data for EDNS options of queries: literal bytes, properties of the query, and the client's
 * network.
 * @module
 */

import { configError } from '../../../corefile/problem.ts'
import type { Word } from '../../../corefile/server-block.ts'
import { byteAt, parseHex, uint16Bytes, writeUint16 } from '../../../dns/bytes/bytes.ts'
import { parseAddress } from '../../../dns/names/address.ts'
import type { Request } from '../../contract/request.ts'
import type { QuestionDraft } from './rule.ts'

/** Returns the metadata of a request under a label; `undefined` for none. */
export type Metadata = (label: string, request: Request) => string | undefined

/** The data of an option. */
export type OptionData = {
  /** Whether the data depends on the query. */
  readonly isVariable: boolean
  /** Returns the data for a question; `undefined` if it is unknown. */
  readonly read: (draft: QuestionDraft) => Uint8Array | undefined
}

const IPV4_BITS = 32
const IPV6_BITS = 128

const VARIABLES: Readonly<Record<string, OptionData['read']>> = {
  '{qname}': ({ name }) => new TextEncoder().encode(name),
  '{qtype}': ({ type }) => uint16Bytes(type),
  '{client_ip}': ({ request }) => parseAddress(request.client.address),
  '{client_port}': ({ request }) => uint16Bytes(request.client.port),
  '{protocol}': ({ request }) =>
    new TextEncoder().encode(request.client.transport === 'udp' ? 'udp' : 'tcp'),
  '{server_ip}': serverAddress,
  '{server_port}': ({ request: { client } }) =>
    client.localPort === undefined ? undefined : uint16Bytes(client.localPort),
}

/**
 * Parses text, hexadecimal digits after `0x`, or a variable in braces: a property of the query or a
 * metadata label.
 * @throws {ConfigError}
 */
export function parseData(word: Word, metadata: Metadata): OptionData {
  const { text } = word
  if (text.startsWith('{') && text.endsWith('}')) {
    return { isVariable: true, read: VARIABLES[text] ?? parseLabel(word, metadata) }
  }
  const bytes = text.startsWith('0x') ? parseHex(text.slice(2)) : new TextEncoder().encode(text)
  if (bytes === undefined) throw configError(word, `"${text}" is not pairs of hexadecimal digits`)
  return { isVariable: false, read: () => bytes }
}

/** Parses a number with Go's base prefixes `0x`, `0o`, `0b` and `0`. */
export function parseUnsigned(word: Word, max: number): number {
  const digits = word.text
    .replace(/^0(?=[0-7_]+$)/, '0o')
    .replace(/(?<=[\da-fxob])_(?=[\da-f])/gi, '')
  const value = /^(0x[\da-f]+|0o[0-7]+|0b[01]+|0|[1-9]\d*)$/i.test(digits) ? Number(digits) : -1
  if (value >= 0 && value <= max) return value
  throw configError(word, `"${word.text}" is not a number from 0 to ${max}`)
}

/**
 * Returns the client's network as the data of a subnet option (RFC 7871 §6): family, prefix
 * lengths, and the bytes that hold the prefix.
 */
export function subnetData(bits4: Word, bits6: Word): OptionData['read'] {
  const v4 = parseUnsigned(bits4, IPV4_BITS)
  const v6 = parseUnsigned(bits6, IPV6_BITS)
  return ({ request }) => {
    const address = parseAddress(request.client.address)
    if (address === undefined) return undefined
    const bits = address.length === 4 ? v4 : v6
    const size = Math.ceil(bits / 8)
    const data = new Uint8Array(4 + size)
    writeUint16(data, 0, address.length === 4 ? 1 : 2)
    data[2] = bits
    data.set(address.subarray(0, size), 4)
    const rest = 8 * size - bits
    if (rest > 0) data[3 + size] = byteAt(data, 3 + size) & (0xff << rest)
    return data
  }
}

/** Returns the server's address; `undefined` if it is `::` and the client has IPv4. */
function serverAddress({ request: { client } }: QuestionDraft): Uint8Array | undefined {
  const address = parseAddress(client.localAddress ?? '')
  return address?.length === parseAddress(client.address)?.length ? address : undefined
}

/** Parses a metadata label. Only a query shows whether a plugin provides it. */
function parseLabel(word: Word, metadata: Metadata): OptionData['read'] {
  const label = word.text.slice(1, -1)
  const slash = label.indexOf('/')
  if (slash <= 0 || slash === label.length - 1) {
    const known = Object.keys(VARIABLES).join(', ')
    throw configError(word, `"${word.text}" is not a variable: ${known}, or {PLUGIN/LABEL}`)
  }
  return ({ request }) => {
    const value = metadata(label, request)
    return value === undefined || value === '' ? undefined : new TextEncoder().encode(value)
  }
}
