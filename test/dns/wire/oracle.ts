/**
 * A second opinion on messages: the npm package `dns-packet`. It knows nothing of our code and is
 * right about messages whose names are host names; it is not asked about labels with dots or odd
 * bytes, and it never compresses.
 * @module
 */
import { type DecodedPacket, decode, encode, type Packet, type RecordType } from 'dns-packet'
import { readUint16 } from '../../../src/dns/bytes/bytes.ts'

/** What the package says a message holds, with the fields that its types leave out. */
export type OracleMessage = DecodedPacket & { readonly rcode: string; readonly opcode: string }

/** Decodes a message. @throws when it is malformed to the package's eyes. */
export function decodeMessage(bytes: Uint8Array): OracleMessage {
  const packet = decode(Buffer.from(bytes))
  return { ...packet, rcode: textOf(packet, 'rcode'), opcode: textOf(packet, 'opcode') }
}

/** Encodes a message. */
export function encodeMessage(packet: Packet): Uint8Array {
  return Uint8Array.from(encode(packet))
}

/** Its records as `name TTL type data`, data as the package's own JSON. */
export function oracleLines(records: DecodedPacket['answers']): string[] {
  return (records ?? []).map((record) => {
    if (record.type === 'OPT') return 'OPT'
    return `${record.name} ${record.ttl} ${record.type} ${JSON.stringify(record.data)}`
  })
}

function textOf(packet: object, field: string): string {
  const value: unknown = Reflect.get(packet, field)
  if (typeof value !== 'string') throw new TypeError(`dns-packet gave no ${field}`)
  return value
}

/** The number of a type by its mnemonic; 0 for one that the package does not know. */
export function typeNumber(mnemonic: string): number {
  const type = mnemonic as RecordType
  return readUint16(encodeMessage({ questions: [{ name: '.', type }] }), 13)
}
