/**
 * A cheap test whether a query name can have some text, bytes and all, which never says no to
 * a name that has it and allocates nothing.
 * @module
 */
import { byteAt } from '../../bytes/bytes.ts'
import type { Query } from '../../dns/query.ts'
import type { Pattern } from '../../pattern/pattern.ts'

/** Where in the name the text is. */
type Place = 'whole' | 'start' | 'end' | 'anywhere'

/** Says whether a name may match. */
export type MayMatch = (query: Query) => boolean

const DOT = 0x2e
/** Where text has a dot, a name has the length of a label, or a dot within one. */
const DOT_OCTET_MAX = 63

/** Looks for text in names in lower case. */
export function mayHave(text: string, place: Place): MayMatch {
  const isPlain = /^[!-[\]-~]{1,255}$/.test(text) && text !== '.'
  // At its beginning, text may be digits that stand for a byte: "\032.example.org.".
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

/** Looks for the text that all matches of an expression have. */
export function mayMatchPattern({ literals }: Pattern): MayMatch {
  const { prefix, suffix, inside } = literals
  if (suffix !== '' && prefix === '') return mayHave(suffix, 'end')
  if (prefix === '') return mayHave(inside, 'anywhere')
  const begins = mayHave(prefix, 'start')
  const ends = mayHave(suffix, 'end')
  return (query) => begins(query) && ends(query)
}

/** The text's first bytes are compared first: below one zone, names end in the same. */
function isAt(bytes: Uint8Array, name: Uint8Array, start: number): boolean {
  for (let i = 0; i < bytes.length; i++) {
    const wanted = byteAt(bytes, i)
    const found = byteAt(name, start + i)
    if (wanted === DOT ? found > DOT_OCTET_MAX : wanted !== found) return false
  }
  return true
}

/** Looks by Horspool's way: at most of a name's places a long text cannot begin. */
function isWithin(
  { bytes, steps }: { readonly bytes: Uint8Array; readonly steps: Uint8Array },
  { name, nameBytes }: Query,
): boolean {
  const last = bytes.length - 1
  const wanted = byteAt(bytes, last)
  let end = last + 1
  while (end < nameBytes) {
    const found = byteAt(name, end)
    const mayEnd = wanted === DOT ? found <= DOT_OCTET_MAX : wanted === found
    if (mayEnd && isAt(bytes, name, end - last)) return true
    end += byteAt(steps, found)
  }
  return false
}

/** How far to go on from a place, by the byte where the text's last one would be. */
function stepsOf(bytes: Uint8Array): Uint8Array {
  const last = bytes.length - 1
  const steps = new Uint8Array(256).fill(bytes.length)
  for (let i = 0; i < last; i++) {
    const value = byteAt(bytes, i)
    if (value === DOT) steps.fill(last - i, 0, DOT_OCTET_MAX + 1)
    else steps[value] = last - i
  }
  return steps
}
