/**
 * The address entries of a whole build, packed as numbers and bytes: there are as many as
 * endpoints, and objects for them would take several times the memory of the shards.
 * @module
 */
import { readInt32, word, writeUint32 } from '../../bytes/bytes.ts'
import type { AddressEntry } from '../../records/zone-entry.ts'
import { addressKey } from '../format/shard-key.ts'
import { ByteBuffer } from './byte-buffer.ts'
import { draftPointers, type PointerDraft } from './pointer-drafts.ts'
import type { ShardWriter } from './shard-writer.ts'

/** Field offsets within an entry. */
const FIELD = {
  /** The address, one or four words, the highest first. */
  ADDRESS: 0,
  /** Bytes of the address. */
  SIZE: 4,
  /** The shard key. */
  KEY: 5,
  KIND: 6,
  NAMESPACE: 7,
  TTL: 8,
  /** Where the target begins, and its bytes. */
  TARGET: 9,
  TARGET_SIZE: 10,
} as const
const FIELDS = 11
const KIND = { POD_ADDRESS: 0, POINTER: 1, YIELDING: 2 } as const
const ENTRIES_LEAST = 1024
/** Most bytes of all targets. */
const TARGET_BYTES_MAX = 2 ** 31 - 1
/** Most entries whose index fits into a double beside an IPv4 address; a power of two. */
const NUMBERED_MAX = 2 ** 20

/** The pointers of an address: the number of its only entry, or a draft of several. */
export type PackedDraft = number | PointerDraft

/** Address entries, numbered in the order that they were added. */
export class PackedPointers {
  private fields = new Int32Array(FIELDS * ENTRIES_LEAST)
  private count = 0
  private readonly targets = new ByteBuffer(TARGET_BYTES_MAX)
  private readonly namespaces: string[] = []
  private readonly namespaceIds = new Map<string, number>()

  /** Adds an entry. */
  add(entry: AddressEntry): void {
    const at = FIELDS * this.count++
    if (at === this.fields.length) this.grow()
    const { fields } = this
    const { address } = entry
    const words = address.length >>> 2
    for (let i = 0; i < words; i++) fields[at + i] = readInt32(address, 4 * i)
    fields[at + FIELD.SIZE] = address.length
    fields[at + FIELD.KEY] = addressKey(address)
    fields[at + FIELD.NAMESPACE] = this.idOf(entry.namespace)
    if (entry.kind === 'pod-address') return
    const { target } = entry
    fields[at + FIELD.KIND] = entry.isYielding === true ? KIND.YIELDING : KIND.POINTER
    fields[at + FIELD.TTL] = entry.ttlSeconds
    fields[at + FIELD.TARGET] = this.targets.size
    fields[at + FIELD.TARGET_SIZE] = target.length
    this.targets.append(target)
  }

  /** Returns the numbers of the entries of each shard, of a power of two of them. */
  deal(shardCount: number): Int32Array[] {
    const shardOf = (entry: number): number => this.field(entry, FIELD.KEY) & (shardCount - 1)
    const ends = new Int32Array(shardCount)
    for (let entry = 0; entry < this.count; entry++) {
      const shard = shardOf(entry)
      ends[shard] = word(ends, shard) + 1
    }
    const all = new Int32Array(this.count)
    let start = 0
    const lots = Array.from(ends, (count, shard) => {
      const lot = all.subarray(start, start + count)
      ends[shard] = start
      start += count
      return lot
    })
    for (let entry = 0; entry < this.count; entry++) {
      const shard = shardOf(entry)
      const end = word(ends, shard)
      all[end] = entry
      ends[shard] = end + 1
    }
    return lots
  }

  /**
   * Drafts those of some entries whose address has `size` bytes, sorted by address. An entry that
   * is alone at its address stays a number.
   */
  draft(entries: Int32Array, size: number): PackedDraft[] {
    const drafts: PackedDraft[] = []
    const sorted = this.sorted(entries, size)
    for (let at = 0; at < sorted.length; ) {
      const entry = word(sorted, at)
      const start = at
      do at++
      while (at < sorted.length && this.compare(entry, word(sorted, at)) === 0)
      if (at === start + 1 && this.field(entry, FIELD.KIND) !== KIND.POD_ADDRESS) {
        drafts.push(entry)
        continue
      }
      const same = Array.from(sorted.subarray(start, at), (one) => this.entry(one))
      for (const draft of draftPointers(same)) drafts.push(draft)
    }
    return drafts
  }

  /** Adds the namespaces of drafts to `names`. */
  addNamespaces(drafts: readonly PackedDraft[], names: Set<string>): void {
    for (const draft of drafts) {
      names.add(typeof draft === 'number' ? this.namespaceOf(draft) : draft.namespace)
    }
  }

  /** Writes drafts, those of IPv4 first. */
  write(drafts: readonly PackedDraft[], writer: ShardWriter): void {
    for (const draft of drafts) {
      if (typeof draft === 'number') this.writeOne(draft, writer)
      else writer.writePointer(draft)
    }
  }

  /** Returns those with addresses of `size` bytes, sorted by address. */
  private sorted(entries: Int32Array, size: number): Int32Array {
    const some = new Int32Array(entries.length)
    let count = 0
    for (const entry of entries) {
      if (this.field(entry, FIELD.SIZE) === size) some[count++] = entry
    }
    const chosen = some.subarray(0, count)
    if (size !== 4 || count > NUMBERED_MAX) return chosen.sort((a, b) => this.compare(a, b))
    // Doubles sort without a call for each comparison: the address, followed by the index.
    const numbers = new Float64Array(count)
    for (let i = 0; i < count; i++) {
      numbers[i] = (this.field(word(some, i), FIELD.ADDRESS) >>> 0) * NUMBERED_MAX + i
    }
    numbers.sort()
    return Int32Array.from(numbers, (number) => word(some, number % NUMBERED_MAX))
  }

  private writeOne(entry: number, writer: ShardWriter): void {
    const start = this.field(entry, FIELD.TARGET)
    const end = start + this.field(entry, FIELD.TARGET_SIZE)
    const set = writer.writeTarget(this.field(entry, FIELD.TTL), this.targets.bytes, { start, end })
    const words = this.field(entry, FIELD.SIZE) >>> 2
    const rows = words === 1 ? writer.rows4 : writer.rows6
    for (let i = 0; i < words; i++) rows.parts.push(this.field(entry, FIELD.ADDRESS + i))
    rows.sets.push(set)
    rows.infos.push(writer.idOf(this.namespaceOf(entry)) | (1 << 16))
  }

  /** Unpacks an entry. */
  private entry(number: number): AddressEntry {
    const address = new Uint8Array(this.field(number, FIELD.SIZE))
    for (let at = 0; at < address.length; at += 4) {
      writeUint32(address, at, this.field(number, FIELD.ADDRESS + at / 4))
    }
    const namespace = this.namespaceOf(number)
    const kind = this.field(number, FIELD.KIND)
    if (kind === KIND.POD_ADDRESS) return { kind: 'pod-address', address, namespace }
    const start = this.field(number, FIELD.TARGET)
    const target = this.targets.bytes.slice(start, start + this.field(number, FIELD.TARGET_SIZE))
    const ttlSeconds = this.field(number, FIELD.TTL)
    const pointer = { kind: 'pointer', address, namespace, ttlSeconds, target } as const
    return kind === KIND.YIELDING ? { ...pointer, isYielding: true } : pointer
  }

  /** Orders two entries with addresses of one size by these. */
  private compare(a: number, b: number): number {
    const words = this.field(a, FIELD.SIZE) >>> 2
    for (let i = 0; i < words; i++) {
      const difference = (this.field(a, i) >>> 0) - (this.field(b, i) >>> 0)
      if (difference !== 0) return difference
    }
    return 0
  }

  private field(entry: number, field: number): number {
    return word(this.fields, FIELDS * entry + field)
  }

  private namespaceOf(entry: number): string {
    return this.namespaces[this.field(entry, FIELD.NAMESPACE)] ?? ''
  }

  private idOf(namespace: string): number {
    const known = this.namespaceIds.get(namespace)
    if (known !== undefined) return known
    this.namespaceIds.set(namespace, this.namespaces.length)
    return this.namespaces.push(namespace) - 1
  }

  private grow(): void {
    const larger = new Int32Array(2 * this.fields.length)
    larger.set(this.fields)
    this.fields = larger
  }
}
