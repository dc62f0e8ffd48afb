/**
 * A cheap test whether a query name can contain a text. It never rejects a name that does, and
 * allocates nothing.
 * @module
 */
import { byteAt } from '../../bytes/bytes.ts'
import type { Query } from '../../dns/query.ts'
import type { Pattern } from '../../pattern/pattern.ts'

/** Where the text occurs in the name. */
type Place = 'whole' | 'start' | 'end' | 'anywhere'

/** Returns whether a name may match. */
export type MayMatch = (query: Query) => boolean

const DOT = 0x2e
/** A dot in the text matches a length byte, up to this value, or a dot within a label. */
const DOT_BYTE_MAX = 63

/** Returns a test for a text in lower-case names. */
export function mayHave(text: string, place: Place): MayMatch {
  const isPlain = /^[!-[\]-~]{1,255}$/.test(text) && text !== '.'
  // The first characters may be digits of an escaped byte: "\032.example.org.".
  const isCut = place === 'end' || place === 'anywhere'
  const needle = isCut ? text.replace(/^\d{1,3}/, '') : text
  if (!isPlain || needle === '') return mayBe
  const bytes = Uint8Array.from(needle, (character) => character.charCodeAt(0))
  const size = bytes.length
  switch (place) {
    case 'whole':
      return ({ name, nameBytes }) => nameBytes === size + 1 && isAt(bytes, name, 1)
    case 'start':
      return ({ name, nameBytes }) => nameBytes > size && isAt(bytes, name, 1)
    case 'end':
      return ({ name, nameBytes }) => nameBytes >= size && isAt(bytes, name, nameBytes - size)
    case 'anywhere': {
      const text = { bytes, steps: stepsOf(bytes) }
      return (query) => isWithin(text, query)
    }
  }
}

function mayBe(): boolean {
  return true
}

/** Returns a test for the literal text that all matches of an expression contain. */
export function mayMatchPattern({ literals }: Pattern): MayMatch {
  const { prefix, suffix, inside } = literals
  if (suffix !== '' && prefix === '') return mayHave(suffix, 'end')
  if (prefix === '') return mayHave(inside, 'anywhere')
  const begins = mayHave(prefix, 'start')
  const ends = mayHave(suffix, 'end')
  return (query) => begins(query) && ends(query)
}

/** Compares from the start: names below one zone end alike. */
function isAt(bytes: Uint8Array, name: Uint8Array, start: number): boolean {
  for (let i = 0; i < bytes.length; i++) {
    const wanted = byteAt(bytes, i)
    const found = byteAt(name, start + i)
    if (wanted === DOT ? found > DOT_BYTE_MAX : wanted !== found) return false
  }
  return true
}

/** Searches by Horspool's algorithm, which skips most positions of a long text. */
function isWithin(
  { bytes, steps }: { readonly bytes: Uint8Array; readonly steps: Uint8Array },
  { name, nameBytes }: Query,
): boolean {
  const last = bytes.length - 1
  const wanted = byteAt(bytes, last)
  let end = last + 1
  while (end < nameBytes) {
    const found = byteAt(name, end)
    const mayEnd = wanted === DOT ? found <= DOT_BYTE_MAX : wanted === found
    if (mayEnd && isAt(bytes, name, end - last)) return true
    end += byteAt(steps, found)
  }
  return false
}

/** Returns how far to move on, by the byte under the text's last position. */
function stepsOf(bytes: Uint8Array): Uint8Array {
  const last = bytes.length - 1
  const steps = new Uint8Array(256).fill(bytes.length)
  for (let i = 0; i < last; i++) {
    const value = byteAt(bytes, i)
    if (value === DOT) steps.fill(last - i, 0, DOT_BYTE_MAX + 1)
    else steps[value] = last - i
  }
  return steps
}
