/**
 * Writes names into a reply, each ending in a pointer to the longest end of it that stands in the
 * reply already (RFC 1035 §4.1.4).
 *
 * Most replies have few names, nearly all of which end as the question does: these are matched with
 * the question alone. Only when that does not settle a name are all names so far put in a table.
 * @module
 */
import { LOWER, octet } from './bytes.ts'
import { Compression } from './compression.ts'
import { HEADER_BYTES, LABELS_MAX } from './limits.ts'
import { Query } from './query.ts'

/** Names that may be written before they are put in the table. */
const NOTED_MAX = 8
const POINTER_BITS = 0xc0

/** The names of one reply. */
export class NameWriter {
  private readonly table = new Compression()
  private isTableFilled = false
  private readonly noted = new Uint32Array(NOTED_MAX)
  private notedCount = 0
  private query = new Query()
  private readonly labels = new Uint8Array(LABELS_MAX)
  private labelCount = 0
  private matchedOffset = 0
  private matchedOrigin: Uint8Array | undefined

  /** Begins with the name of a query's question, which stands behind the header. */
  begin(query: Query): void {
    this.query = query
    this.matchedOrigin = undefined
    this.forget()
  }

  /** Forgets all names but the question's. */
  forget(): void {
    this.isTableFilled = false
    this.notedCount = 0
  }

  /**
   * Writes an absolute name to `to` in `message`. `mayPoint` is false in rdata that must not be
   * compressed (RFC 3597 §4), whose names may still be pointed at. Returns the offset behind it.
   */
  write(message: Uint8Array, to: number, name: Uint8Array, mayPoint: boolean): number {
    if (!this.isTableFilled) {
      const own = this.ownLabels(name)
      const isSettled = own === 0 || !mayPoint || this.notedCount === 0
      if (isSettled && this.notedCount < NOTED_MAX) {
        if (own > 0) this.noted[this.notedCount++] = to
        return this.writeMatched(message, to, name, mayPoint ? own : this.labelCount)
      }
      this.fillTable(message)
    }
    return this.table.write(message, to, name, 0, mayPoint)
  }

  /**
   * Writes some labels and a pointer to a part of the question that nothing longer in the reply
   * ends in, by its offset. Returns the offset behind it.
   */
  writeBelow(message: Uint8Array, to: number, labels: Uint8Array, offset: number): number {
    if (this.notedCount === NOTED_MAX) this.fillTable(message)
    if (!this.isTableFilled) this.noted[this.notedCount++] = to
    for (let i = 0; i < labels.length; i++) message[to + i] = octet(labels, i)
    return writePointer(message, to + labels.length, offset)
  }

  /**
   * As `write`, for `size` octets of labels from `start` and the absolute name `origin` behind
   * them; 0 when only `write` can tell what they may point at.
   */
  writeJoined(
    message: Uint8Array,
    to: number,
    labels: Uint8Array,
    start: number,
    size: number,
    origin: Uint8Array,
    mayPoint: boolean,
  ): number {
    if (this.isTableFilled || this.notedCount === NOTED_MAX) return 0
    const own = this.ownOctets(labels, start, size, origin)
    const isNew = own > 0 || this.matchedOffset === 0
    if (own < 0 || (isNew && mayPoint && this.notedCount > 0)) return 0
    if (isNew) this.noted[this.notedCount++] = to
    const isPointing = mayPoint && this.matchedOffset > 0
    const count = isPointing ? own : size
    for (let i = 0; i < count; i++) message[to + i] = octet(labels, start + i)
    if (isPointing) return writePointer(message, to + count, this.matchedOffset)
    for (let i = 0; i < origin.length; i++) message[to + size + i] = octet(origin, i)
    return to + size + origin.length
  }

  /**
   * Number of octets in front of what joined labels have in common with the question's end; -1 when
   * that begins within the origin. `matchedOffset` is where it begins, 0 when there is nothing.
   */
  private ownOctets(part: Uint8Array, start: number, size: number, origin: Uint8Array): number {
    const { query, labels } = this
    this.matchedOffset = 0
    if (query.questionEnd === 0 || query.labelCount === 0 || origin.length === 1) return -1
    let left = query.labelCount
    const offset = query.nameBytes - origin.length
    while (left > 0 && octet(query.labels, left - 1) > offset) left--
    const isWithin = left > 0 && octet(query.labels, left - 1) === offset
    if (!isWithin || !this.endsIn(origin, offset)) {
      const last = octet(query.labels, query.labelCount - 1)
      return this.sharesLastLabel(origin, last) ? -1 : size
    }
    let count = 0
    for (let at = 0; at < size; at += octet(part, start + at) + 1) labels[count++] = at
    let own = size
    this.matchedOffset = HEADER_BYTES + offset
    for (left--; count > 0 && left > 0; left--) {
      const theirs = octet(query.labels, left - 1)
      const at = octet(labels, --count)
      if (!isSameLabel(part, start + at, query.name, theirs)) break
      own = at
      this.matchedOffset = HEADER_BYTES + theirs
    }
    return own
  }

  /** Whether the question's name ends in an origin; the answer is kept for the next name. */
  private endsIn(origin: Uint8Array, offset: number): boolean {
    if (this.matchedOrigin === origin) return true
    const { name } = this.query
    for (let i = 0; i < origin.length; i++) {
      if (octet(name, offset + i) !== octet(LOWER, octet(origin, i))) return false
    }
    this.matchedOrigin = origin
    return true
  }

  private sharesLastLabel(origin: Uint8Array, last: number): boolean {
    let at = 0
    for (let next = 0; octet(origin, next) !== 0; next += octet(origin, next) + 1) at = next
    return isSameLabel(origin, at, this.query.name, last)
  }

  /** Number of labels in front of the longest end that a name has in common with the question. */
  private ownLabels(name: Uint8Array): number {
    const { query, labels } = this
    let count = 0
    for (let at = 0; octet(name, at) !== 0; at += octet(name, at) + 1) labels[count++] = at
    this.labelCount = count
    let own = count
    let left = query.questionEnd === 0 ? 0 : query.labelCount
    while (own > 0 && left > 0) {
      const theirs = octet(query.labels, left - 1)
      if (!isSameLabel(name, octet(labels, own - 1), query.name, theirs)) break
      this.matchedOffset = HEADER_BYTES + theirs
      own--
      left--
    }
    return own
  }

  /** Writes the first labels of the name that was matched, and what ends it. */
  private writeMatched(message: Uint8Array, to: number, name: Uint8Array, count: number): number {
    const isWhole = count === this.labelCount
    let end = isWhole ? 0 : octet(this.labels, count)
    if (isWhole) while (octet(name, end) !== 0) end += octet(name, end) + 1
    for (let i = 0; i < end; i++) message[to + i] = octet(name, i)
    if (!isWhole) return writePointer(message, to + end, this.matchedOffset)
    message[to + end] = 0
    return to + end + 1
  }

  private fillTable(message: Uint8Array): void {
    this.isTableFilled = true
    this.table.clear()
    if (this.query.questionEnd > 0) this.table.learn(message, HEADER_BYTES)
    for (let i = 0; i < this.notedCount; i++) this.table.learn(message, this.noted[i] ?? 0)
  }
}

function isSameLabel(name: Uint8Array, at: number, lower: Uint8Array, lowerAt: number): boolean {
  const size = octet(name, at)
  if (size !== octet(lower, lowerAt)) return false
  for (let i = 1; i <= size; i++) {
    if (octet(LOWER, octet(name, at + i)) !== octet(lower, lowerAt + i)) return false
  }
  return true
}

function writePointer(message: Uint8Array, to: number, offset: number): number {
  message[to] = POINTER_BITS | (offset >>> 8)
  message[to + 1] = offset
  return to + 2
}
