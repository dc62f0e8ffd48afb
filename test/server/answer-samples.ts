/**
 * Valid and invalid responses to a query, for tests of clients of upstreams.
 * @module
 */
import { writeUint16 } from '../../src/dns/bytes/bytes.ts'
import { echo, queryWith } from './clients.ts'

/** The query. */
export const QUERY: Uint8Array = queryWith(0x1234)
/** The right response. */
export const RIGHT: Uint8Array = echo(QUERY)
/** Long enough for any machine; only tests of timeouts wait for it. */
export const LONG_MS = 10_000
/** Short enough to wait for. */
export const SHORT_MS = 30

/** Returns a copy with a changed byte at `offset`. */
export function changed(message: Uint8Array, offset: number, value: number): Uint8Array {
  const copy = message.slice()
  copy[offset] = value
  return copy
}

/** The right response with its name in capitals. */
function shouted(message: Uint8Array): Uint8Array {
  return message.map((value, i) => (i >= 12 && value >= 0x61 && value <= 0x7a ? value - 32 : value))
}

function withoutQuestion(message: Uint8Array): Uint8Array {
  const header = message.slice(0, 12)
  writeUint16(header, 4, 0)
  return header
}

/** The header alone of a response with FORMERR. */
export const BARE_ERROR: Uint8Array = changed(withoutQuestion(RIGHT), 3, 1)

/** Invalid responses. */
export const STRAYS: readonly { readonly name: string; readonly message: Uint8Array }[] = [
  { name: 'another ID', message: changed(RIGHT, 1, 0x35) },
  { name: 'a query', message: QUERY },
  { name: 'another name', message: changed(RIGHT, 13, 0x62) },
  { name: 'another type', message: changed(RIGHT, RIGHT.length - 3, 28) },
  { name: 'another class', message: changed(RIGHT, RIGHT.length - 1, 3) },
  { name: 'a question cut off', message: RIGHT.subarray(0, -1) },
  { name: 'less than a header', message: withoutQuestion(RIGHT).subarray(0, 11) },
]
/** Responses without a question, which over UDP would fit any query with their ID. */
export const QUESTIONLESS: readonly { readonly name: string; readonly message: Uint8Array }[] = [
  { name: 'a response without a question', message: withoutQuestion(RIGHT) },
  { name: 'an error without a question, and more', message: Uint8Array.of(...BARE_ERROR, 0) },
]
/** Valid responses. */
export const ACCEPTED: readonly { readonly name: string; readonly message: Uint8Array }[] = [
  { name: 'a response to the question', message: RIGHT },
  { name: 'a response in other letters', message: shouted(RIGHT) },
  { name: 'the header of an error alone', message: BARE_ERROR },
  { name: 'a response with more after', message: new Uint8Array([...RIGHT, 1, 2, 3]) },
]
