/**
 * The table of fields that a decoder keeps of late ones (RFC 7541 §2.3.2, §4).
 * @module
 */
import type { HeaderField } from './header-field.ts'

/** A table of fields, the newest first; they leave when there is no room. */
export class DynamicTable {
  private readonly sizeLimit: number
  private sizeMax: number
  private size = 0
  /** A ring: the newest is at `newest`, older ones follow. */
  private readonly ring: (HeaderField | undefined)[]
  private newest = 0
  private count = 0

  /** @param sizeLimit bytes that it never goes beyond; no field counts less than 32 */
  constructor(sizeLimit: number) {
    this.sizeLimit = sizeLimit
    this.sizeMax = sizeLimit
    this.ring = new Array(Math.max(1, Math.floor(sizeLimit / 32)))
  }

  /** Returns the field at an index, 0 for the newest; `undefined` when there is none. */
  at(index: number): HeaderField | undefined {
    return index < this.count ? this.ring[(this.newest + index) % this.ring.length] : undefined
  }

  /** Puts a field first. One that is larger than the table empties it (RFC 7541 §4.4). */
  add(field: HeaderField): void {
    this.evict(this.sizeMax - field.size)
    if (field.size > this.sizeMax) return
    this.newest = (this.newest + this.ring.length - 1) % this.ring.length
    this.ring[this.newest] = field
    this.count++
    this.size += field.size
  }

  /** Sets how many bytes it may have. @returns whether that is within its limit (§6.3) */
  resize(sizeMax: number): boolean {
    if (sizeMax > this.sizeLimit) return false
    this.sizeMax = sizeMax
    this.evict(sizeMax)
    return true
  }

  /** Drops the oldest until it has no more than so many bytes (RFC 7541 §4.3). */
  private evict(sizeMax: number): void {
    while (this.count > 0 && this.size > sizeMax) {
      const oldest = (this.newest + --this.count) % this.ring.length
      this.size -= this.ring[oldest]?.size ?? 0
      this.ring[oldest] = undefined
    }
  }
}
