/**
 * Lists of byte strings by name, in a few large buffers. As objects, a million records of a hosts
 * file or a zone take ten times the memory, and V8 marks and moves them while queries wait.
 * @module
 */
import type { Query } from '../../dns/wire/query.ts'
import { hashName, hashView } from '../../snapshot/format/name-hash.ts'

/** The entry of a name; 0 for none. Valid as long as the lists. */
export type NameEntry = number

/** Words of four bytes in a buffer, which has to hold the longest value, of 64 KiB. */
const SEGMENT_WORDS = 65_536
/** Words in the first buffer: a Corefile can have thousands of short lists. */
const FIRST_WORDS = 256
const GROWTH = 16
/** Tables of entries, so that growing one does not take long. */
const TABLES = 256
const TABLE_SLOTS_MIN = 8
const SEED = 0
/** An entry's words: the next entry, its first and last value, the hash and size of its name. */
const ENTRY = { NEXT: 0, FIRST: 1, LAST: 2, HASH: 3, SIZE: 4, NAME: 5 } as const
/** A value's words: the next value of its entry, and its size. */
const VALUE = { NEXT: 0, SIZE: 1, BYTES: 2 } as const

type Segment = { readonly words: Int32Array; readonly bytes: Uint8Array }

/** Lists by absolute names in lower case. */
export class NameLists {
  /** Names. */
  size = 0
  /** Values of all names. */
  valueCount = 0
  private readonly segments: Segment[] = []
  /** Used words of the last segment. The first word of the first segment holds no entry. */
  private used = 1
  private readonly tables: (Int32Array | undefined)[] = []
  private readonly counts = new Int32Array(TABLES)
  private first: NameEntry = 0
  private last: NameEntry = 0

  /** Finds a name. */
  find(name: Uint8Array): NameEntry {
    return this.findHashed(name, 0, name.length, hashName(name, name.length, SEED))
  }

  /** Finds the name of a query, or what follows its first `start` bytes. Allocates nothing. */
  findQuery({ name, nameView, nameBytes }: Query, start: number): NameEntry {
    if (this.size === 0 || start >= nameBytes) return 0
    return this.findHashed(name, start, nameBytes, hashView(nameView, start, nameBytes, SEED))
  }

  /** Finds a name, or adds it with an empty list. */
  entry(name: Uint8Array): NameEntry {
    const hash = hashName(name, name.length, SEED)
    return this.findHashed(name, 0, name.length, hash) || this.insert(name, hash)
  }

  /** Appends a value of 64 KiB at most to the list of an entry. */
  append(entry: NameEntry, value: Uint8Array): void {
    const at = this.allocate(VALUE.BYTES, value)
    this.set(at + VALUE.SIZE, value.length)
    const last = this.get(entry + ENTRY.LAST)
    this.set(last === 0 ? entry + ENTRY.FIRST : last + VALUE.NEXT, at)
    this.set(entry + ENTRY.LAST, at)
    this.valueCount++
  }

  /** Returns the name of an entry, which the caller must not change. */
  nameOf(entry: NameEntry): Uint8Array {
    return this.bytesAt(entry + ENTRY.NAME, this.get(entry + ENTRY.SIZE))
  }

  /** Lists the values of an entry, in the order of `append`; none for no entry. */
  *valuesOf(entry: NameEntry): Generator<Uint8Array> {
    if (entry === 0) return
    for (let at = this.get(entry + ENTRY.FIRST); at !== 0; at = this.get(at + VALUE.NEXT)) {
      yield this.bytesAt(at + VALUE.BYTES, this.get(at + VALUE.SIZE))
    }
  }

  /** Lists all entries, in the order in which their names were added. */
  *entries(): Generator<NameEntry> {
    for (let at = this.first; at !== 0; at = this.get(at + ENTRY.NEXT)) yield at
  }

  private findHashed(name: Uint8Array, start: number, end: number, hash: number): NameEntry {
    const table = this.tables[hash & (TABLES - 1)]
    if (table === undefined) return 0
    const mask = table.length - 1
    for (let slot = (hash >>> 8) & mask; ; slot = (slot + 1) & mask) {
      const entry = table[slot] ?? 0
      if (entry === 0 || this.isNamed(entry, hash, name, start, end)) return entry
    }
  }

  private isNamed(
    entry: NameEntry,
    hash: number,
    name: Uint8Array,
    start: number,
    end: number,
  ): boolean {
    if (this.get(entry + ENTRY.HASH) !== hash) return false
    if (this.get(entry + ENTRY.SIZE) !== end - start) return false
    const { bytes } = this.segmentOf(entry)
    const offset = 4 * ((entry + ENTRY.NAME) % SEGMENT_WORDS) - start
    for (let i = start; i < end; i++) if (bytes[offset + i] !== name[i]) return false
    return true
  }

  private insert(name: Uint8Array, hash: number): NameEntry {
    const entry = this.allocate(ENTRY.NAME, name)
    this.set(entry + ENTRY.HASH, hash)
    this.set(entry + ENTRY.SIZE, name.length)
    if (this.last === 0) this.first = entry
    else this.set(this.last + ENTRY.NEXT, entry)
    this.last = entry
    this.size++
    const index = hash & (TABLES - 1)
    const count = this.counts[index] ?? 0
    const table = this.tables[index] ?? new Int32Array(TABLE_SLOTS_MIN)
    this.tables[index] = 3 * (count + 1) > 2 * table.length ? this.grown(table) : table
    this.place(this.tables[index] ?? table, entry, hash)
    this.counts[index] = count + 1
    return entry
  }

  private grown(table: Int32Array): Int32Array {
    const larger = new Int32Array(2 * table.length)
    for (const entry of table) {
      if (entry !== 0) this.place(larger, entry, this.get(entry + ENTRY.HASH))
    }
    return larger
  }

  private place(table: Int32Array, entry: NameEntry, hash: number): void {
    const mask = table.length - 1
    let slot = (hash >>> 8) & mask
    while (table[slot] !== 0) slot = (slot + 1) & mask
    table[slot] = entry
  }

  /** Allocates some words of zeros and, after them, a copy of bytes. */
  private allocate(words: number, bytes: Uint8Array): number {
    const size = words + ((bytes.length + 3) >>> 2)
    if (size > SEGMENT_WORDS - 1) throw new RangeError(`a value has ${bytes.length} bytes`)
    while (this.used + size > (this.segments.at(-1)?.words.length ?? 0)) this.addSegment()
    const at = (this.segments.length - 1) * SEGMENT_WORDS + this.used
    this.used += size
    this.segmentOf(at).bytes.set(bytes, 4 * ((at + words) % SEGMENT_WORDS))
    return at
  }

  private addSegment(): void {
    const { length } = this.segments
    const words = new Int32Array(Math.min(SEGMENT_WORDS, FIRST_WORDS * GROWTH ** length))
    this.segments.push({ words, bytes: new Uint8Array(words.buffer) })
    this.used = length === 0 ? 1 : 0
  }

  private bytesAt(at: number, size: number): Uint8Array {
    const offset = 4 * (at % SEGMENT_WORDS)
    return this.segmentOf(at).bytes.subarray(offset, offset + size)
  }

  private get(at: number): number {
    return this.segmentOf(at).words[at % SEGMENT_WORDS] ?? 0
  }

  private set(at: number, value: number): void {
    this.segmentOf(at).words[at % SEGMENT_WORDS] = value
  }

  private segmentOf(at: number): Segment {
    const segment = this.segments[Math.floor(at / SEGMENT_WORDS)]
    if (segment === undefined) throw new RangeError(`nothing is at ${at}`)
    return segment
  }
}
