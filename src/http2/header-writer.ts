/**
 * Encodes the header lists of responses (RFC 7541): by the static table and literals. No dynamic
 * table, so that a block does not depend on those before it, and may be made once for many
 * responses.
 * @module
 */
import { findField, findName } from './static-table.ts'

/** The fields of a response. */
export type ResponseFields = Readonly<Record<string, string>>

/**
 * Says that we use no dynamic table, whatever the other side would keep (RFC 7541 §6.3). It goes
 * before the first block of a connection, and no later setting of the other side asks for more.
 */
export const NO_DYNAMIC_TABLE: Uint8Array = Uint8Array.of(0x20)

const LITERAL_WITHOUT_INDEXING = { flag: 0x00, mask: 0x0f }
const INDEXED = { flag: 0x80, mask: 0x7f }
const STRING = { flag: 0x00, mask: 0x7f }

type MadeBlock = { readonly status: number; readonly block: Uint8Array }
type Prefix = { readonly flag: number; readonly mask: number }

/** Blocks that were made, by the object with their fields. */
const MADE = new WeakMap<ResponseFields, MadeBlock>()

let dateSecond = Number.NaN
let dateBlock: Uint8Array = new Uint8Array(0)

/** Encodes a status and fields; once for each object of fields, which must not change. */
export function responseBlock(status: number, fields: ResponseFields): Uint8Array {
  const known = MADE.get(fields)
  if (known?.status === status) return known.block
  const block = writeHeaderBlock(status, Object.entries(fields))
  MADE.set(fields, { status, block })
  return block
}

/** Encodes `date`, which every response with a clock behind it has (RFC 9110 §6.6.1). */
export function dateField(nowMs: number): Uint8Array {
  const second = Math.floor(nowMs / 1000)
  if (second !== dateSecond) {
    const octets: number[] = []
    writeField(octets, 'date', new Date(second * 1000).toUTCString())
    dateBlock = Uint8Array.from(octets)
    dateSecond = second
  }
  return dateBlock
}

/** Encodes a status and fields, whose names are in lower case and whose values are Latin-1. */
export function writeHeaderBlock(
  status: number,
  fields: Iterable<readonly [string, string]>,
): Uint8Array {
  const octets: number[] = []
  writeField(octets, ':status', String(status))
  for (const [name, value] of fields) writeField(octets, name, value)
  return Uint8Array.from(octets)
}

function writeField(octets: number[], name: string, value: string): void {
  const index = findField(name, value)
  if (index !== undefined) {
    writeInteger(octets, index, INDEXED)
    return
  }
  const nameIndex = findName(name) ?? 0
  writeInteger(octets, nameIndex, LITERAL_WITHOUT_INDEXING)
  if (nameIndex === 0) writeString(octets, name)
  writeString(octets, value)
}

function writeString(octets: number[], text: string): void {
  writeInteger(octets, text.length, STRING)
  for (let i = 0; i < text.length; i++) octets.push(text.charCodeAt(i) & 0xff)
}

/** Writes an integer (RFC 7541 §5.1). */
function writeInteger(octets: number[], value: number, { flag, mask }: Prefix): void {
  if (value < mask) {
    octets.push(flag | value)
    return
  }
  octets.push(flag | mask)
  let rest = value - mask
  for (; rest >= 0x80; rest >>>= 7) octets.push((rest & 0x7f) | 0x80)
  octets.push(rest)
}
