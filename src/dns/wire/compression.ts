/**
 * Name compression (RFC 1035 §4.1.4): remembers the offsets of names in a message, so that later
 * names can point to them. Allocates nothing per message: an open-addressing table of offsets,
 * whose stale slots have another epoch.
 * @module
 */
import { byteAt, LOWER, readUint16 } from '../bytes/bytes.ts'
import { LABELS_MAX, NAME_BYTES_MAX, POINTER_OFFSET_MAX } from '../names/limits.ts'

const SLOTS = 4096
/** Maximum number of remembered suffixes; further names are written but not remembered. */
const ENTRIES_MAX = 2800

/** The names in a message so far. */
export class Compression {
  private readonly offsets = new Uint16Array(SLOTS)
  private readonly epochs = new Uint32Array(SLOTS)
  private readonly labels = new Uint8Array(LABELS_MAX)
  private readonly hashes = new Int32Array(LABELS_MAX)
  private readonly expanded = new Uint8Array(NAME_BYTES_MAX)
  /** Starts above 0, the initial value of the slots: nothing is remembered at first. */
  private epoch = 1
  private count = 0

  /** Forgets all names. */
  clear(): void {
    this.epoch = (this.epoch + 1) >>> 0
    this.count = 0
    if (this.epoch !== 0) return
    this.epochs.fill(0)
    this.epoch = 1
  }

  /**
   * Writes the absolute name at `from` in `name` to `to` in `message`, and remembers its suffixes.
   * `mayPoint` is false in rdata that must not be compressed (RFC 3597 §4); later names can still
   * point to such a name. Returns the offset after it.
   */
  write(
    message: Uint8Array,
    to: number,
    name: Uint8Array,
    from: number,
    mayPoint: boolean,
  ): number {
    const labelCount = this.measure(name, from)
    let known = -1
    let split = 0
    for (; split < labelCount && known < 0; split++) {
      known = this.find(message, name, byteAt(this.labels, split) + from, this.hashes[split] ?? 0)
    }
    if (known >= 0) split--
    const written = mayPoint ? split : labelCount
    let at = to
    for (let i = 0; i < written; i++) {
      const label = byteAt(this.labels, i) + from
      if (i < split) this.remember(at, this.hashes[i] ?? 0)
      const size = byteAt(name, label) + 1
      for (let j = 0; j < size; j++) message[at + j] = byteAt(name, label + j)
      at += size
    }
    if (!mayPoint || known < 0) {
      message[at] = 0
      return at + 1
    }
    message[at] = 0xc0 | (known >>> 8)
    message[at + 1] = known
    return at + 2
  }

  /** Remembers the suffixes of the name at `at`, which is already in `message`. */
  learn(message: Uint8Array, at: number): void {
    const ownCount = this.expand(message, at)
    this.measure(this.expanded, 0)
    for (let i = 0; i < ownCount; i++) {
      this.remember(at + byteAt(this.labels, i), this.hashes[i] ?? 0)
    }
  }

  /** Copies a name and follows its pointers. Returns the number of labels before the first one. */
  private expand(message: Uint8Array, from: number): number {
    const { expanded } = this
    let ownCount = 0
    let isOwn = true
    let size = 0
    for (let at = from; byteAt(message, at) !== 0; ) {
      const length = byteAt(message, at)
      if (length >= 0xc0) {
        at = readUint16(message, at) & POINTER_OFFSET_MAX
        isOwn = false
        continue
      }
      for (let i = 0; i <= length; i++) expanded[size + i] = byteAt(message, at + i)
      size += length + 1
      at += length + 1
      if (isOwn) ownCount++
    }
    expanded[size] = 0
    return ownCount
  }

  /** Finds the labels of a name and hashes each suffix, starting at the root. */
  private measure(name: Uint8Array, from: number): number {
    let labelCount = 0
    for (let at = from; byteAt(name, at) !== 0; at += byteAt(name, at) + 1) {
      this.labels[labelCount++] = at - from
    }
    let hash = 0x811c9dc5
    for (let i = labelCount - 1; i >= 0; i--) {
      const label = byteAt(this.labels, i) + from
      const end = label + byteAt(name, label)
      for (let at = label; at <= end; at++) {
        hash = Math.imul(hash ^ byteAt(LOWER, byteAt(name, at)), 0x01000193)
      }
      this.hashes[i] = hash
    }
    return labelCount
  }

  private find(message: Uint8Array, name: Uint8Array, from: number, hash: number): number {
    let slot = spread(hash)
    while (this.epochs[slot] === this.epoch) {
      const offset = this.offsets[slot] ?? 0
      if (isSameName(message, offset, name, from)) return offset
      slot = (slot + 1) & (SLOTS - 1)
    }
    return -1
  }

  private remember(offset: number, hash: number): void {
    if (offset > POINTER_OFFSET_MAX || this.count >= ENTRIES_MAX) return
    let slot = spread(hash)
    while (this.epochs[slot] === this.epoch) slot = (slot + 1) & (SLOTS - 1)
    this.epochs[slot] = this.epoch
    this.offsets[slot] = offset
    this.count++
  }
}

function spread(hash: number): number {
  return (hash ^ (hash >>> 15)) & (SLOTS - 1)
}

/** Compares a name in `message`, whose pointers are our own, with an uncompressed one. */
function isSameName(message: Uint8Array, offset: number, name: Uint8Array, from: number): boolean {
  let at = offset
  let other = from
  for (;;) {
    const length = byteAt(message, at)
    if (length >= 0xc0) {
      at = readUint16(message, at) & POINTER_OFFSET_MAX
      continue
    }
    if (length !== byteAt(name, other)) return false
    if (length === 0) return true
    for (let i = 1; i <= length; i++) {
      if (byteAt(LOWER, byteAt(message, at + i)) !== byteAt(LOWER, byteAt(name, other + i)))
        return false
    }
    at += length + 1
    other += length + 1
  }
}
