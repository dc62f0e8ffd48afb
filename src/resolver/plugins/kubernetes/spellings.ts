/**
 * Other spellings of a cluster's names that CoreDNS answers, tried if the query name does not exist
 * (plugin/kubernetes/parse.go):
 *
 * - `http.tcp.web.shop.svc` for `_http._tcp.web.shop.svc`: underscores are optional
 * - `x.10-0-0-1.shop.pod` for `10-0-0-1.shop.pod`: one or two labels before a Pod's are ignored
 * @module
 */
import { type WordBytes, wordBytes } from '../../../dns/bytes/bytes.ts'
import { NAME_BYTES_MAX } from '../../../dns/names/limits.ts'
import type { Query } from '../../../dns/wire/query.ts'

const UNDERSCORE = 0x5f
const SVC = 0x737663
const POD = 0x706f64

/** A name below the zone: the first `size` bytes. */
export type RelativeName = WordBytes & { size: number }

/** Allocates the buffer for a name. */
export function relativeName(): RelativeName {
  return { ...wordBytes(NAME_BYTES_MAX + 1), size: 0 }
}

/**
 * Returns whether the first or second label begins with an underscore: for names of several
 * clusters, no other label can be a port.
 */
export function hasUnderscore({ name, labels }: Query): boolean {
  const isUnderscored = (i: number): boolean => name[(labels[i] ?? 0) + 1] === UNDERSCORE
  return isUnderscored(0) || isUnderscored(1)
}

/** Returns the kind of tree in the last of the first `count` labels: three letters as a number. */
const lastLabel = ({ name, labels }: Query, count: number): number => {
  const at = labels[count - 1] ?? 0
  if (name[at] !== 3) return 0
  return ((name[at + 1] ?? 0) << 16) | ((name[at + 2] ?? 0) << 8) | (name[at + 3] ?? 0)
}

/**
 * Writes the spelling with underscores into `into`. `count` labels of the query name are below the
 * zone: five for a port, four for a protocol alone. Returns false for other names and for names
 * that already have underscores.
 */
export function spellPort(query: Query, count: number, into: RelativeName): boolean {
  if ((count !== 4 && count !== 5) || lastLabel(query, count) !== SVC) return false
  const { name, labels } = query
  const tail = labels[count - 3] ?? 0
  let size = 0
  for (let i = 0; i < count - 3; i++) {
    const at = labels[i] ?? 0
    const length = name[at] ?? 0
    const isPlain = name[at + 1] !== UNDERSCORE
    if (isPlain && length === 63) return false
    into.bytes[size++] = isPlain ? length + 1 : length
    if (isPlain) into.bytes[size++] = UNDERSCORE
    for (let j = 1; j <= length; j++) into.bytes[size++] = name[at + j] ?? 0
  }
  const end = (labels[count - 1] ?? 0) + 4
  if (size === tail || size + end - tail >= NAME_BYTES_MAX) return false
  for (let at = tail; at < end; at++) into.bytes[size++] = name[at] ?? 0
  into.size = size
  return true
}

/** Returns the index (0 to 2) of the label where a Pod's name begins; -1 for any other name. */
export function podLabel(query: Query, count: number): number {
  return count >= 3 && count <= 5 && lastLabel(query, count) === POD ? count - 3 : -1
}
