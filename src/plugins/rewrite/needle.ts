/**
 * A quick look at whether a query's name can have some text, octets and all, which never says no to
 * a name that has it and allocates nothing.
 * @module
 */
import { octet } from '../../dns/bytes.ts'
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
  const isPlain = /^[!-[\]-~]*$/.test(text) && text !== '.'
  // At its beginning, text may be digits that stand for an octet: "\032.example.org.".
  const isCut = place === 'end' || place === 'anywhere'
  const needle = isCut ? text.replace(/^\d{1,3}/, '') : text
  if (!isPlain || needle === '') return () => true
  const octets = Uint8Array.from(needle, (character) => character.charCodeAt(0))
  const size = octets.length
  switch (place) {
    case 'whole':
      return ({ name, nameBytes }) => nameBytes === size + 1 && isAt(octets, name, 1)
    case 'start':
      return ({ name, nameBytes }) => nameBytes > size && isAt(octets, name, 1)
    case 'end':
      return ({ name, nameBytes }) => nameBytes >= size && isAt(octets, name, nameBytes - size)
    case 'anywhere':
      return ({ name, nameBytes }) => isWithin(octets, name, nameBytes)
  }
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

/** The text's last octets are compared first: names differ most at their beginnings and ends. */
function isAt(octets: Uint8Array, name: Uint8Array, start: number): boolean {
  for (let i = octets.length - 1; i >= 0; i--) {
    const wanted = octet(octets, i)
    const found = octet(name, start + i)
    if (wanted === DOT ? found > DOT_OCTET_MAX : wanted !== found) return false
  }
  return true
}

function isWithin(octets: Uint8Array, name: Uint8Array, nameBytes: number): boolean {
  const last = nameBytes - octets.length
  for (let start = 1; start <= last; start++) if (isAt(octets, name, start)) return true
  return false
}
