/**
 * Lists the names of shards for people who browse them, one page at a time.
 *
 * Reads every node of a shard and keeps no index: an index of a million names would take as much
 * memory as the shards. So the loop over nodes allocates only for names that it takes.
 * @module
 */
import { byteAt, compareBytes, EMPTY, equalBytes } from '../../dns/bytes/bytes.ts'
import { formatLabel, labelOffsets } from '../../dns/names/name.ts'
import { formatType } from '../../dns/names/rr-type.ts'
import type { Shard } from '../../snapshot/read/shard.ts'
import type { Visibility } from '../../snapshot/read/visibility.ts'
import { readHostKey } from '../../snapshot/records/host-claims.ts'

/** Which names a page has. */
export type NamePage = {
  /** Labels of the name to list below, relative to the zone, in lower case; without the root. */
  readonly under: Uint8Array
  /** Text that names must contain, in lower case; '' for every name. */
  readonly search: string
  /** Labels of the last name of the page before; `undefined` for the first page. */
  readonly after: Uint8Array | undefined
  /** Most names of the page. */
  readonly limit: number
  /** The client's visible namespaces; `undefined` for all. */
  readonly namespaces: Visibility | undefined
}

/** A listed name: its labels, relative to the zone, and the types of its records. */
export type ListedName = { readonly labels: Uint8Array; readonly types: readonly string[] }

/** Names with so many labels below the zone, and those below them, are in one shard. */
export const UNIT_LABELS = 3
/** The first type for private use (RFC 6895 §3.1). */
const PRIVATE_TYPES = 0xff00
/** A search for these characters only finds them in the bytes of one label. */
const WITHIN_LABEL = /^[a-z0-9_-]+$/
const KEY_BYTES_MAX = 256

type FoundName = ListedName & { readonly key: Uint8Array }
/** A node's labels, from `start` to `end` of `bytes`. */
type Labels = { readonly bytes: Uint8Array; readonly start: number; readonly end: number }

/** The names of one page, collected shard by shard. */
export class NameList {
  private readonly page: NamePage
  private readonly underLabels: number
  private readonly after: Uint8Array | undefined
  /** The search, if it can be found in the bytes of one label; else no bytes. */
  private readonly needle: Uint8Array
  private readonly key = new Uint8Array(KEY_BYTES_MAX)
  private found: FoundName[] = []
  /** Names with a greater key have no place on the page. */
  private end: Uint8Array | undefined

  constructor(page: NamePage) {
    this.page = page
    this.underLabels = labelOffsets(page.under).length
    const { search } = page
    this.needle = WITHIN_LABEL.test(search) ? new TextEncoder().encode(search) : EMPTY
    const { after } = page
    this.after = after && this.key.slice(0, this.writeKey(after, 0, after.length))
  }

  /**
   * Adds the visible names of a shard. Without a search, these are the names one label below
   * `under`, or all names below it if it has {@link UNIT_LABELS} labels; with one, all names that
   * contain the text, of at most {@link UNIT_LABELS} labels unless `under` has as many.
   */
  add(shard: Shard): void {
    const { bytes } = shard
    for (const node of this.visibleNodes(shard)) {
      const start = shard.nameOffset(node)
      const end = start + shard.nameBytes(node)
      if (this.needle.length > 0 && !this.hasNeedle(bytes, start, end)) continue
      const below = this.labelsBelow({ bytes, start, end })
      if (below < 0 || !this.isListed(below, shard.isImplied(node))) continue
      this.take(shard, node, { bytes, start, end })
    }
  }

  /**
   * Adds the visible hostnames of a shard, which have no levels.
   * @param relative returns a hostname's labels relative to the zone; `undefined` outside of it
   */
  addHosts(shard: Shard, relative: (labels: Uint8Array) => Uint8Array | undefined): void {
    for (const node of this.visibleNodes(shard)) {
      if (shard.isImplied(node)) continue
      const start = shard.nameOffset(node)
      const key = shard.bytes.subarray(start, start + shard.nameBytes(node))
      const bytes = relative(readHostKey(key).labels)
      if (bytes === undefined) continue
      const labels = { bytes, start: 0, end: bytes.length }
      if (this.labelsBelow(labels) >= 0) this.take(shard, node, labels)
    }
  }

  /** Returns the page in the order of RFC 4034 §6.1, and whether more names follow. */
  finish(): { readonly names: readonly ListedName[]; readonly hasMore: boolean } {
    this.settle()
    const { limit } = this.page
    return { names: this.found.slice(0, limit), hasMore: this.found.length > limit }
  }

  private *visibleNodes(shard: Shard): Generator<number> {
    const { namespaces } = this.page
    for (let slot = shard.slotCount - 1; slot >= 0; slot--) {
      const node = shard.slotNode(slot)
      if (node === 0 || shard.isGlue(node)) continue
      if (namespaces?.has(shard, shard.nodeNamespaceId(node)) !== false) yield node
    }
  }

  private hasNeedle(bytes: Uint8Array, start: number, end: number): boolean {
    const { needle } = this
    const first = byteAt(needle, 0)
    for (let at = start; at <= end - needle.length; at++) {
      if (bytes[at] !== first) continue
      let size = 1
      while (size < needle.length && bytes[at + size] === needle[size]) size++
      if (size === needle.length) return true
    }
    return false
  }

  /** Returns how many labels a name has below `under`; -1 if it is not below it. */
  private labelsBelow({ bytes, start, end }: Labels): number {
    const { under } = this.page
    const tail = end - under.length
    if (tail < start) return -1
    for (let i = under.length - 1; i >= 0; i--) {
      if (bytes[tail + i] !== under[i]) return -1
    }
    let count = 0
    let at = start
    for (; at < tail; at += byteAt(bytes, at) + 1) count++
    return at === tail ? count : -1
  }

  private isListed(below: number, isImplied: boolean): boolean {
    const { underLabels } = this
    if (underLabels >= UNIT_LABELS) return !isImplied
    if (this.page.search === '') return below === 1
    return below > 0 && below + underLabels <= UNIT_LABELS
  }

  private take(shard: Shard, node: number, { bytes, start, end }: Labels): void {
    const key = this.key.subarray(0, this.writeKey(bytes, start, end))
    if (this.after !== undefined && compareBytes(key, this.after) <= 0) return
    if (this.end !== undefined && compareBytes(key, this.end) > 0) return
    const { search, limit } = this.page
    const labels = bytes.slice(start, end)
    if (search !== '' && !textOf(labels).includes(search)) return
    this.found.push({ key: key.slice(), labels, types: this.typesOf(shard, node) })
    if (this.found.length > 4 * limit + 64) this.settle()
  }

  /** Sorts what was found, joins names that several trees have, and drops what is past the page. */
  private settle(): void {
    const { limit } = this.page
    const joined: FoundName[] = []
    for (const one of this.found.toSorted((a, b) => compareBytes(a.key, b.key))) {
      const last = joined.at(-1)
      if (last === undefined || !equalBytes(last.key, one.key)) joined.push(one)
      else joined[joined.length - 1] = { ...last, types: union(last.types, one.types) }
    }
    this.found = joined.slice(0, limit + 1)
    this.end = this.found[limit]?.key
  }

  /** Writes the labels in reverse order, which sort as RFC 4034 §6.1 requires. @returns the size */
  private writeKey(bytes: Uint8Array, start: number, end: number): number {
    let to = end - start
    for (let at = start; at < end; ) {
      const length = byteAt(bytes, at)
      to -= length + 1
      for (let i = 1; i <= length; i++) this.key[to + i - 1] = byteAt(bytes, at + i)
      this.key[to + length] = 0
      at += length + 1
    }
    return end - start
  }

  /** The types at names of no namespace follow from servers, which may be in hidden namespaces. */
  private typesOf(shard: Shard, node: number): readonly string[] {
    if (this.page.namespaces !== undefined && shard.nodeNamespaceId(node) === 0) return []
    const types = shard.refs(node).map((ref) => shard.refType(ref))
    return types.filter((type) => type < PRIVATE_TYPES).map(formatType)
  }
}

function textOf(labels: Uint8Array): string {
  return labelOffsets(labels)
    .map((at) => formatLabel(labels, at))
    .join('.')
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])]
}
