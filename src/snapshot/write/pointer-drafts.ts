/**
 * Merges the address entries of a shard into drafts.
 * @module
 */
import {
  compareBytes,
  EMPTY,
  equalBytes,
  readInt32,
  word,
  writeUint32,
} from '../../dns/bytes/bytes.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import { FORM, SET_TTL_MAX } from '../format/layout.ts'
import { shardAddressKey } from '../format/shard-key.ts'
import type { AddressEntry } from '../records/zone-entry.ts'
import { ByteBuffer } from './byte-buffer.ts'
import { draftSet, finishSet, mergeRdata } from './set-drafts.ts'
import type { PointerDraft, ShardWriter } from './shard-writer.ts'

/**
 * Merges the entries of each address and namespace, and sorts by both. Drops yielding pointers if
 * the same or the empty namespace has others at the address, and marks them if another one has.
 */
export function draftPointers(entries: readonly AddressEntry[]): PointerDraft[] {
  const sorted = [...entries].sort(compareEntries)
  const drafts: PointerDraft[] = []
  for (let at = 0; at < sorted.length; ) {
    const { address } = sorted[at] ?? { address: EMPTY }
    const start = at
    do at++
    while (equalBytes(sorted[at]?.address ?? EMPTY, address))
    draftAddress(drafts, sorted.slice(start, at))
  }
  for (const { set } of drafts) if (set !== undefined) finishSet(set)
  return drafts
}

/** Adds the entries of one address. */
function draftAddress(drafts: PointerDraft[], entries: readonly AddressEntry[]): void {
  const firm = new Set(
    entries.flatMap((entry) =>
      entry.kind === 'pointer' && entry.isYielding !== true ? entry.namespace : [],
    ),
  )
  for (const entry of entries) {
    const isLast = isYielding(entry)
    if (isLast && (firm.has(entry.namespace) || firm.has(''))) continue
    addTo(drafts, entry, isLast && firm.size > 0)
  }
}

/** Adds an entry to the last draft if address and namespace are equal, else as a new one. */
function addTo(drafts: PointerDraft[], entry: AddressEntry, isMarked: boolean): void {
  const { address, namespace } = entry
  let draft = drafts.at(-1)
  if (draft === undefined || draft.namespace !== namespace || !equalBytes(draft.address, address)) {
    draft = { address, namespace, set: undefined, isPod: false, isYielding: false }
    drafts.push(draft)
  }
  if (entry.kind === 'pod-address') {
    draft.isPod = true
    return
  }
  const { ttlSeconds, target } = entry
  const { set } = draft
  draft.isYielding = isMarked
  if (set === undefined) {
    draft.set = draftSet(TYPE.PTR, ttlSeconds, [{ bytes: EMPTY, target }])
  } else mergeRdata(set, ttlSeconds, [{ bytes: EMPTY, target }])
}

function isYielding(entry: AddressEntry): boolean {
  return entry.kind === 'pointer' && entry.isYielding === true
}

function compareEntries(a: AddressEntry, b: AddressEntry): number {
  const order = compareBytes(a.address, b.address)
  if (order !== 0 || a.namespace === b.namespace) return order
  return a.namespace < b.namespace ? -1 : 1
}

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
    fields[at + FIELD.KEY] = shardAddressKey(address)
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
   * Returns the pointers of the numbered entries, by ascending address, IPv4 first. One that is
   * alone at its address, as nearly all are, stays a number.
   */
  draft(numbers: Int32Array): (number | PointerDraft)[] {
    const drafts: (number | PointerDraft)[] = []
    for (const size of [4, 16]) {
      const sorted = this.sorted(numbers, size)
      for (let at = 0; at < sorted.length; ) {
        const start = at
        const first = word(sorted, start)
        do at++
        while (at < sorted.length && this.compareAddress(word(sorted, at), first) === 0)
        if (at === start + 1 && this.field(first, FIELD.KIND) !== KIND.POD_ADDRESS)
          drafts.push(first)
        else {
          const entries = Array.from(sorted.subarray(start, at), (number) => this.entry(number))
          for (const draft of draftPointers(entries)) drafts.push(draft)
        }
      }
    }
    return drafts
  }

  /** Returns the namespace of a draft. */
  namespaceOf(draft: number | PointerDraft): string {
    if (typeof draft !== 'number') return draft.namespace
    return this.namespaces[this.field(draft, FIELD.NAMESPACE)] ?? ''
  }

  /** Writes a draft. Addresses rise. */
  write(draft: number | PointerDraft, writer: ShardWriter): void {
    if (typeof draft !== 'number') {
      writer.writePointer(draft)
      return
    }
    const { out } = writer
    const isIPv4 = this.field(draft, FIELD.SIZE) === 4
    const { parts, sets, infos } = isIPv4 ? writer.rows4 : writer.rows6
    const words = isIPv4 ? 1 : 4
    for (let i = 0; i < words; i++) parts.push(this.field(draft, FIELD.ADDRESS + i))
    sets.push(out.size)
    infos.push(writer.idOf(this.namespaceOf(draft)) | (1 << 16))
    const start = this.field(draft, FIELD.TARGET)
    const size = this.field(draft, FIELD.TARGET_SIZE)
    const ttlSeconds = Math.min(this.field(draft, FIELD.TTL), SET_TTL_MAX)
    out.append32((FORM.PARTS << 24) | ttlSeconds)
    out.append32((size + 1) << 16)
    out.put(out.reserve(size), this.targets.bytes, start, start + size)
    out.align()
  }

  /** Returns the numbered entries whose address has `size` bytes, by ascending address. */
  private sorted(numbers: Int32Array, size: number): Int32Array {
    const some = numbers.filter((number) => this.field(number, FIELD.SIZE) === size)
    return some.sort((a, b) => this.compareAddress(a, b))
  }

  private compareAddress(a: number, b: number): number {
    for (let i = FIELD.ADDRESS; i < FIELD.SIZE; i++) {
      const difference = (this.field(a, i) >>> 0) - (this.field(b, i) >>> 0)
      if (difference !== 0) return difference
    }
    return 0
  }

  private entry(number: number): AddressEntry {
    const address = new Uint8Array(this.field(number, FIELD.SIZE))
    for (let at = 0; at < address.length; at += 4) {
      writeUint32(address, at, this.field(number, FIELD.ADDRESS + at / 4))
    }
    const namespace = this.namespaces[this.field(number, FIELD.NAMESPACE)] ?? ''
    const kind = this.field(number, FIELD.KIND)
    if (kind === KIND.POD_ADDRESS) return { kind: 'pod-address', address, namespace }
    const start = this.field(number, FIELD.TARGET)
    const target = this.targets.bytes.slice(start, start + this.field(number, FIELD.TARGET_SIZE))
    const ttlSeconds = this.field(number, FIELD.TTL)
    const pointer = { kind: 'pointer', address, namespace, ttlSeconds, target } as const
    return kind === KIND.YIELDING ? { ...pointer, isYielding: true } : pointer
  }

  private field(entry: number, field: number): number {
    return word(this.fields, FIELDS * entry + field)
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
