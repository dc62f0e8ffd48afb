/**
 * Messages of dnstap as text, read by the rules of protocol buffers alone.
 * @module
 */

import { byteAt, formatHex } from '../../../../src/dns/bytes/bytes.ts'
import { formatAddress } from '../../../../src/dns/names/address.ts'

const NAMES: Readonly<Record<number, string>> = {
  1: 'type',
  2: 'family',
  3: 'protocol',
  4: 'query_address',
  5: 'response_address',
  6: 'query_port',
  7: 'response_port',
  8: 'query_time_sec',
  9: 'query_time_nsec',
  10: 'query_message',
  12: 'response_time_sec',
  13: 'response_time_nsec',
  14: 'response_message',
}

/** A message, field by field. */
export type TapText = Readonly<Record<string, string | number>>

/** Reads a frame: its sender, and the message. @throws {TypeError} when it is malformed */
export function readTap(frame: Uint8Array): TapText {
  const outer = readFields(frame)
  const text = (field: number): string => new TextDecoder().decode(bytesOf(outer.get(field)))
  const shown: Record<string, string | number> = { identity: text(1), version: text(2) }
  if (outer.has(3)) shown.extra = text(3)
  if (outer.get(15) !== 1) throw new TypeError('not a message')
  for (const [field, value] of readFields(bytesOf(outer.get(14)))) {
    shown[NAMES[field] ?? field] = typeof value === 'number' ? value : format(field, value)
  }
  return shown
}

function format(field: number, value: Uint8Array): string {
  return field === 4 || field === 5 ? formatAddress(value) : formatHex(value)
}

function bytesOf(value: Uint8Array | number | undefined): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw new TypeError('bytes are missing')
}

function readFields(bytes: Uint8Array): Map<number, Uint8Array | number> {
  const fields = new Map<number, Uint8Array | number>()
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let factor = 1; ; factor *= 0x80) {
      const next = byteAt(bytes, at++)
      value += (next & 0x7f) * factor
      if (next < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const key = varint()
    if ((key & 7) === 0) fields.set(key >>> 3, varint())
    else if ((key & 7) === 5) {
      fields.set(key >>> 3, new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(0, true))
      at += 4
    } else {
      const size = varint()
      fields.set(key >>> 3, bytes.slice(at, at + size))
      at += size
    }
  }
  if (at !== bytes.length) throw new TypeError('a field is cut')
  return fields
}
