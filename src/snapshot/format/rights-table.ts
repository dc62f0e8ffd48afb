/**
 * The table of rights: which namespaces each user and group of a cluster may see, by its RBAC. The
 * exporter publishes it beside the shards, and no client gets it. ../README.md has its layout.
 * @module
 */
import { byteAt, toLatin1 } from '../../dns/bytes/bytes.ts'
import { mapInSteps, type Steps, sortSteps } from '../../dns/bytes/steps.ts'
import { SnapshotError } from './layout.ts'

/** What RBAC binds roles to. A ServiceAccount is the user `system:serviceaccount:NS:NAME`. */
export type PrincipalKind = 'user' | 'group'

/** What one user or group may see. */
export type Right = {
  readonly kind: PrincipalKind
  readonly name: string
  /** Its namespaces, in any order; `all` includes those that are created later. */
  readonly namespaces: readonly string[] | 'all'
}

/** Most bytes of a table. */
export const RIGHTS_BYTES_MAX: number = 256 * 1024
/** Most namespaces, and most different sets of them. */
const COUNT_MAX = 65_000
/** First four bytes, little-endian: `KDR` and the version. */
const MAGIC = 0x3152444b
const HEADER_BYTES = 12
const KEY_BYTES = 16
/** Bytes for each principal: its key, and the number of its set. */
const ROW_BYTES = KEY_BYTES + 2
/** Number of the set of all namespaces. */
const ALL = 0xffff
const NAME_BYTES_MAX = 255
/** Most bits of a number in a set. */
const NUMBER_BITS = 21

/** The rights of a cluster do not fit into a table; the message says why. */
export class RightsError extends Error {
  override readonly name = 'RightsError'
}

/** Returns the 16 bytes by which a table knows a user or group. */
export async function principalKey(kind: PrincipalKind, name: string): Promise<Uint8Array> {
  const text = new TextEncoder().encode(principalText(kind, name))
  return new Uint8Array(await crypto.subtle.digest('SHA-256', text)).subarray(0, KEY_BYTES)
}

function principalText(kind: PrincipalKind, name: string): string {
  return `${kind === 'user' ? 'u' : 'g'}:${name}`
}

/**
 * Writes a table, in steps. The same rights give the same bytes, in whatever order they come;
 * principals without a namespace are left out.
 * @param rights at most one of each principal
 * @param sha256 hashes the UTF-8 of a text
 * @throws {RightsError} for over {@link RIGHTS_BYTES_MAX} bytes, or 65,000 namespaces or sets
 */
export function* writeRights(
  rights: readonly Right[],
  sha256: (text: string) => Uint8Array,
): Steps<Uint8Array<ArrayBuffer>> {
  const some = rights.filter(({ namespaces }) => namespaces.length > 0)
  const all = new Set<string>()
  yield* mapInSteps(some, ({ namespaces }) => {
    if (namespaces !== 'all') for (const name of namespaces) all.add(name)
  })
  const names = [...all].sort()
  refuseOver('namespaces', names.length, COUNT_MAX)
  const numbers = new Map(names.map((name, i) => [name, i]))
  const sets = new Map<string, number>()
  const rows = yield* mapInSteps(some, ({ kind, name, namespaces }) => {
    const key = toLatin1(sha256(principalText(kind, name)).subarray(0, KEY_BYTES))
    if (namespaces === 'all') return { key, set: ALL }
    const text = toLatin1(packSet(namespaces.map((one) => numbers.get(one) ?? 0)))
    const set = sets.get(text) ?? sets.size
    sets.set(text, set)
    return { key, set }
  })
  refuseOver('different sets of namespaces', sets.size, COUNT_MAX)
  const sorted = yield* sortSteps(rows, (a, b) => (a.key < b.key ? -1 : 1))
  if (sorted.some(({ key }, i) => key === sorted[i + 1]?.key)) {
    throw new RangeError('rights must have each principal once')
  }
  const head = new DataView(new ArrayBuffer(HEADER_BYTES))
  head.setUint32(0, MAGIC, true)
  head.setUint16(4, names.length, true)
  head.setUint16(6, sets.size, true)
  head.setUint32(8, rows.length, true)
  const texts = yield* mapInSteps(sorted, ({ key, set }) => key + twoBytes(set))
  const parts = [texts, names.map(packName), [...sets.keys()]].map((part) => part.join(''))
  return fromLatin1(toLatin1(new Uint8Array(head.buffer)) + parts.join(''))
}

function refuseOver(what: string, count: number, max: number): void {
  if (count > max) throw new RightsError(`The rights have ${count} ${what}, at most ${max} fit`)
}

/** Returns two bytes as text, the lower one first. */
function twoBytes(number: number): string {
  return String.fromCharCode(number & 0xff, number >>> 8)
}

function fromLatin1(text: string): Uint8Array<ArrayBuffer> {
  refuseOver('bytes', text.length, RIGHTS_BYTES_MAX)
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

function packName(name: string): string {
  const { length } = new TextEncoder().encode(name)
  if (length === 0 || length > NAME_BYTES_MAX) {
    throw new RangeError(`a namespace must have 1 to ${NAME_BYTES_MAX} bytes`)
  }
  return toLatin1(Uint8Array.of(length)) + toLatin1(new TextEncoder().encode(name))
}

/** Numbers that follow one another closely, as those of `team-a-*` do, take a byte each. */
function packSet(namespaces: readonly number[]): Uint8Array {
  const sorted = Uint32Array.from(new Set(namespaces)).sort()
  const bytes: number[] = []
  packNumber(sorted.length, bytes)
  sorted.forEach((number, i) => {
    packNumber(i === 0 ? number : number - 1 - (sorted[i - 1] ?? 0), bytes)
  })
  return Uint8Array.from(bytes)
}

/** Seven bits a byte, the lowest first; the highest bit marks that more follow. */
function packNumber(number: number, bytes: number[]): void {
  let rest = number
  for (; rest > 0x7f; rest >>>= 7) bytes.push(0x80 | (rest & 0x7f))
  bytes.push(rest)
}

/** Returns whether bytes mean to be a table of rights: no shard begins so. */
export function isRights(bytes: Uint8Array): boolean {
  return bytes.length >= HEADER_BYTES && viewOf(bytes).getUint32(0, true) === MAGIC
}

/** A table of rights. {@link openRights} creates it from checked bytes. */
export class RightsTable {
  readonly bytes: Uint8Array
  private readonly names: readonly string[]
  /** Offset of each set. */
  private readonly sets: Uint32Array
  private readonly rows: number

  constructor(
    bytes: Uint8Array,
    { names, sets }: { readonly names: readonly string[]; readonly sets: Uint32Array },
  ) {
    this.bytes = bytes
    this.names = names
    this.sets = sets
    this.rows = viewOf(bytes).getUint32(8, true)
  }

  /** Returns the namespaces that at least one of some principals may see. */
  namespacesOf(keys: readonly Uint8Array[]): ReadonlySet<string> | 'all' {
    const found = new Set(keys.map((key) => this.setOf(key)))
    if (found.has(ALL)) return 'all'
    const seen = new Set<string>()
    for (const set of found) {
      if (set === undefined) continue
      for (const number of readSet(new Reader(this.bytes, this.sets[set]))) {
        seen.add(this.names[number] ?? '')
      }
    }
    return seen
  }

  private setOf(key: Uint8Array): number | undefined {
    let low = 0
    let high = this.rows
    while (low < high) {
      const middle = (low + high) >>> 1
      const at = HEADER_BYTES + ROW_BYTES * middle
      const order = compareKeys(this.bytes, at, key, 0)
      if (order === 0) return viewOf(this.bytes).getUint16(at + KEY_BYTES, true)
      if (order < 0) low = middle + 1
      else high = middle
    }
    return undefined
  }
}

/**
 * Checks a table from untrusted bytes, all of them. @throws {SnapshotError} saying what is
 * wrong
 */
export function openRights(bytes: Uint8Array): RightsTable {
  if (bytes.length > RIGHTS_BYTES_MAX) throw refuse(`over ${RIGHTS_BYTES_MAX} bytes`)
  if (!isRights(bytes)) throw refuse('it is none, or of another version')
  const view = viewOf(bytes)
  const setCount = view.getUint16(6, true)
  const rows = view.getUint32(8, true)
  const start = HEADER_BYTES + ROW_BYTES * rows
  if (start > bytes.length) throw refuse('its rows are cut off')
  for (let at = HEADER_BYTES; at < start; at += ROW_BYTES) {
    const isFirst = at === HEADER_BYTES
    if (!isFirst && compareKeys(bytes, at - ROW_BYTES, bytes, at) >= 0) {
      throw refuse('its rows are not sorted')
    }
    const set = view.getUint16(at + KEY_BYTES, true)
    if (set !== ALL && set >= setCount) throw refuse(`a row has the set ${set} of ${setCount}`)
  }
  const reader = new Reader(bytes, start)
  const names = Array.from({ length: view.getUint16(4, true) }, () => reader.text())
  const isSorted = names.every((name, i) => i === 0 || (names[i - 1] ?? '') < name)
  if (!isSorted) throw refuse('its namespaces are not sorted')
  const sets = Uint32Array.from({ length: setCount }, () => {
    const { at } = reader
    const numbers = readSet(reader)
    if ((numbers.at(-1) ?? 0) >= names.length) throw refuse('a set has an unknown namespace')
    return at
  })
  if (reader.at !== bytes.length) throw refuse('bytes follow its sets')
  return new RightsTable(bytes, { names, sets })
}

function readSet(reader: Reader): number[] {
  const count = reader.number()
  if (count === 0 || count > COUNT_MAX) throw refuse(`a set has ${count} namespaces`)
  const numbers: number[] = []
  for (let last = -1; numbers.length < count; ) {
    last += 1 + reader.number()
    numbers.push(last)
  }
  return numbers
}

/** Reads names and numbers one after the other. */
class Reader {
  private readonly bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  byte(): number {
    if (this.at >= this.bytes.length) throw refuse('it is cut off')
    return byteAt(this.bytes, this.at++)
  }

  number(): number {
    let number = 0
    for (let bits = 0; bits < NUMBER_BITS; bits += 7) {
      const byte = this.byte()
      number |= (byte & 0x7f) << bits
      if (byte < 0x80) return number
    }
    throw refuse('a number is too long')
  }

  text(): string {
    const size = this.byte()
    const text = this.bytes.subarray(this.at, this.at + size)
    this.at += size
    if (size === 0 || text.length < size) throw refuse('a namespace is cut off')
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(text)
    } catch {
      throw refuse('a namespace is not UTF-8')
    }
  }
}

function compareKeys(a: Uint8Array, atA: number, b: Uint8Array, atB: number): number {
  for (let i = 0; i < KEY_BYTES; i++) {
    const order = (a[atA + i] ?? 0) - (b[atB + i] ?? 0)
    if (order !== 0) return order
  }
  return 0
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

function refuse(what: string): SnapshotError {
  return new SnapshotError(`Cannot read the table of rights: ${what}`)
}
