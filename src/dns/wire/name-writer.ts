/**
 * Writes compressed names into a reply: each ends in a pointer to its longest suffix that the reply
 * already has (RFC 1035 §4.1.4).
 *
 * Most replies have few names, and nearly all end like the question: these are matched with the
 * question only. The first name that this cannot decide puts all names so far into a table.
 * @module
 */
import { byteAt, LOWER, type SizedBytes, tailMask, type WordBytes } from '../bytes/bytes.ts'
import { HEADER_BYTES, LABELS_MAX } from '../names/limits.ts'
import { Compression } from './compression.ts'
import { endsIn, Query } from './query.ts'

/** Number of names that are written before the table is used. */
const NOTED_MAX = 8
const POINTER_BITS = 0xc000

/** The names of one reply. */
export class NameWriter {
  private readonly table = new Compression()
  private isTableFilled = false
  private readonly noted = new Int32Array(NOTED_MAX)
  private notedCount = 0
  private query = new Query()
  private readonly labels = new Uint8Array(LABELS_MAX)
  private labelCount = 0
  private matchedOffset = 0
  private matchedOrigin: SizedBytes | undefined
  /** The last match: a target's name occurs twice, in the rdata and as owner of its addresses. */
  private matchedPart: WordBytes | undefined
  private matchedStart = 0
  private matchedSize = 0
  private matchedOwn = 0
  private readonly message: Uint8Array
  private readonly view: DataView

  /** @param message the reply's buffer; up to three bytes after a name are overwritten */
  constructor(message: Uint8Array) {
    this.message = message
    this.view = new DataView(message.buffer, message.byteOffset, message.length)
  }

  /** Starts with the question's name, which follows the header. */
  begin(query: Query): void {
    this.query = query
    this.matchedOrigin = undefined
    this.matchedPart = undefined
    this.forget()
  }

  /** Forgets all names but the question's. */
  forget(): void {
    this.isTableFilled = false
    this.notedCount = 0
  }

  /**
   * Writes an absolute name to `to` in the reply. `mayPoint` is false in rdata that must not be
   * compressed (RFC 3597 §4); later names can still point to such a name. Returns the offset after
   * it.
   */
  write(to: number, name: Uint8Array, mayPoint: boolean): number {
    if (!this.isTableFilled) {
      const own = this.ownLabels(name)
      const isSettled = own === 0 || !mayPoint || this.notedCount === 0
      if (isSettled && this.notedCount < NOTED_MAX) {
        if (own > 0) this.noted[this.notedCount++] = to
        return this.writeMatched(to, name, mayPoint ? own : this.labelCount)
      }
      this.fillTable()
    }
    return this.table.write(this.message, to, name, 0, mayPoint)
  }

  /**
   * Like `write`, for `size` bytes of labels from `start` followed by the absolute name `origin`.
   * Returns 0 if only `write` can find the pointer.
   */
  writeJoined(
    to: number,
    labels: WordBytes,
    start: number,
    size: number,
    origin: SizedBytes,
    mayPoint: boolean,
  ): number {
    if (this.isTableFilled || this.notedCount === NOTED_MAX) return 0
    const isMatched = labels === this.matchedPart && start === this.matchedStart
    const isKnown = isMatched && size === this.matchedSize && origin === this.matchedOrigin
    const own = isKnown ? this.matchedOwn : this.ownBytes(labels, start, size, origin)
    const isNew = own > 0 || this.matchedOffset === 0
    if (own < 0 || (isNew && mayPoint && this.notedCount > 0)) return 0
    if (isNew) this.noted[this.notedCount++] = to
    const isPointing = mayPoint && this.matchedOffset > 0
    const count = isPointing ? own : size
    this.copy(to, labels, start, count)
    if (isPointing) return this.writePointer(to + count)
    this.copy(to + size, origin, 0, origin.size)
    return to + size + origin.size
  }

  /**
   * Returns the number of bytes before the suffix that joined labels share with the question; -1 if
   * it starts within the origin. Sets `matchedOffset` to its offset, 0 for no common suffix.
   */
  private ownBytes(part: WordBytes, start: number, size: number, origin: SizedBytes): number {
    const { query } = this
    this.matchedOffset = 0
    this.matchedPart = undefined
    if (query.questionEnd === 0 || query.labelCount === 0 || origin.size === 1) return -1
    if (!this.isWithin(origin)) {
      const last = query.labels[query.labelCount - 1] ?? 0
      return this.sharesLastLabel(origin.bytes, last) ? -1 : size
    }
    this.matchedPart = part
    this.matchedStart = start
    this.matchedSize = size
    this.matchedOwn = this.ownBefore(part, start, size, query.nameBytes - origin.size)
    return this.matchedOwn
  }

  /** Like `ownBytes`, for a question whose name ends in the origin, at `offset`. */
  private ownBefore(part: WordBytes, start: number, size: number, offset: number): number {
    const { query, labels } = this
    if (this.isTail(part, start, size, offset)) {
      this.matchedOffset = HEADER_BYTES + offset - size
      return 0
    }
    const { bytes } = part
    let left = query.labelCount - 1
    while (query.labels[left] !== offset) left--
    let count = 0
    for (let at = 0; at < size; at += (bytes[start + at] ?? 0) + 1) labels[count++] = at
    let own = size
    this.matchedOffset = HEADER_BYTES + offset
    for (; count > 0 && left > 0; left--) {
      const theirs = query.labels[left - 1] ?? 0
      const at = labels[--count] ?? 0
      if (!isSameLabel(bytes, start + at, query.name, theirs)) break
      own = at
      this.matchedOffset = HEADER_BYTES + theirs
    }
    return own
  }

  /** Returns whether labels equal those of the question before the offset `end` of its name. */
  private isTail({ words }: WordBytes, start: number, size: number, end: number): boolean {
    const { nameView, labels, labelCount } = this.query
    const from = end - size
    if (from < 0 || (start & 3) !== 0) return false
    const first = start >>> 2
    const whole = size >>> 2
    for (let i = 0; i < whole; i++) {
      if (nameView.getInt32(from + 4 * i, true) !== words[first + i]) return false
    }
    const last = from + 4 * whole
    if (last < end) {
      // An origin follows the labels, and a spare byte follows the longest name.
      const differing = nameView.getInt32(last, true) ^ (words[first + whole] ?? 0)
      if ((differing & tailMask(size)) !== 0) return false
    }
    // The same bytes can also start in the middle of a label.
    for (let i = 0; i < labelCount; i++) {
      const label = labels[i] ?? 0
      if (label >= from) return label === from || size === 0
    }
    return size === 0
  }

  /** Copies labels as words, each combined from two if the labels are not aligned. */
  private copy(to: number, { words }: WordBytes, start: number, size: number): void {
    const { view } = this
    const first = start >>> 2
    const shift = 8 * (start & 3)
    if (shift === 0) {
      for (let i = 0; 4 * i < size; i++) view.setInt32(to + 4 * i, words[first + i] ?? 0, true)
      return
    }
    for (let i = 0; 4 * i < size; i++) {
      const low = (words[first + i] ?? 0) >>> shift
      view.setInt32(to + 4 * i, low | ((words[first + i + 1] ?? 0) << (32 - shift)), true)
    }
  }

  /** Returns whether the question's name ends in an origin; remembers that for the next name. */
  private isWithin(origin: SizedBytes): boolean {
    if (this.matchedOrigin === origin) return true
    if (!endsIn(this.query, origin)) return false
    this.matchedOrigin = origin
    return true
  }

  private sharesLastLabel(origin: Uint8Array, last: number): boolean {
    let at = 0
    for (let next = 0; origin[next] !== 0; next += (origin[next] ?? 0) + 1) at = next
    return isSameLabel(origin, at, this.query.name, last)
  }

  /**
   * Returns the number of labels before the longest suffix that a name shares with the question.
   */
  private ownLabels(name: Uint8Array): number {
    const { query, labels } = this
    this.matchedPart = undefined
    let count = 0
    for (let at = 0; byteAt(name, at) !== 0; at += byteAt(name, at) + 1) labels[count++] = at
    this.labelCount = count
    let own = count
    let left = query.questionEnd === 0 ? 0 : query.labelCount
    while (own > 0 && left > 0) {
      const theirs = byteAt(query.labels, left - 1)
      if (!isSameLabel(name, byteAt(labels, own - 1), query.name, theirs)) break
      this.matchedOffset = HEADER_BYTES + theirs
      own--
      left--
    }
    return own
  }

  /** Writes the first labels of the matched name, and the pointer or the root after them. */
  private writeMatched(to: number, name: Uint8Array, count: number): number {
    const { message } = this
    const isWhole = count === this.labelCount
    let end = isWhole ? 0 : byteAt(this.labels, count)
    if (isWhole) while (byteAt(name, end) !== 0) end += byteAt(name, end) + 1
    for (let i = 0; i < end; i++) message[to + i] = byteAt(name, i)
    if (!isWhole) return this.writePointer(to + end)
    message[to + end] = 0
    return to + end + 1
  }

  /** Writes a pointer to the match. */
  private writePointer(to: number): number {
    this.view.setUint16(to, POINTER_BITS | this.matchedOffset)
    return to + 2
  }

  private fillTable(): void {
    const { message } = this
    this.isTableFilled = true
    this.table.clear()
    if (this.query.questionEnd > 0) this.table.learn(message, HEADER_BYTES)
    for (let i = 0; i < this.notedCount; i++) this.table.learn(message, this.noted[i] ?? 0)
  }
}

const isSameLabel = (name: Uint8Array, at: number, lower: Uint8Array, lowerAt: number): boolean => {
  const size = name[at] ?? 0
  if (size !== lower[lowerAt]) return false
  for (let i = 1; i <= size; i++) {
    if (LOWER[name[at + i] ?? 0] !== lower[lowerAt + i]) return false
  }
  return true
}
