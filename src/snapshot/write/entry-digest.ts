/**
 * Digests of entries: two lots of entries with the same digest are held to be the same.
 * @module
 */
import { byteAt } from '../../bytes/bytes.ts'
import type { Rdata, ZoneEntry } from '../../records/zone-entry.ts'

const FIRST_SEED = 1
const SECOND_SEED = 0x5bd1e995
const FIRST_FACTOR = 0x85ebca6b
const SECOND_FACTOR = 0xc2b2ae35

/**
 * Digests entries in whatever order they come. The result is two numbers of 32 bits: that a change
 * goes unnoticed takes a chance of one in 2^64.
 */
export type EntryDigest = { low: number; high: number }

/** Makes digests of entries. */
export class EntryDigester {
  private low = 0
  private high = 0
  /** The namespace that was hashed last: most entries are of the same as the one before. */
  private namespace = ''
  private namespaceLow = FIRST_SEED
  private namespaceHigh = SECOND_SEED

  /** Takes an entry into a digest. */
  addTo(digest: EntryDigest, entry: ZoneEntry): void {
    this.beginIn(entry.namespace)
    this.mixEntry(entry)
    digest.low = (digest.low + this.low) | 0
    digest.high = (digest.high + this.high) | 0
  }

  private mixEntry(entry: ZoneEntry): void {
    switch (entry.kind) {
      case 'records':
        this.mixBytes(entry.owner)
        this.mix(entry.type)
        this.mix(entry.ttlSeconds * 2 + (entry.isGlue === true ? 1 : 0))
        for (const rdata of entry.rdata) this.mixRdata(rdata)
        return
      case 'pointer':
        this.mixBytes(entry.address)
        this.mixBytes(entry.target)
        this.mix(entry.ttlSeconds * 2 + (entry.isYielding === true ? 1 : 0))
        return
      case 'pod-address':
        this.mixBytes(entry.address)
        this.mix(-4)
        return
      case 'name':
        this.mixBytes(entry.owner)
        this.mix(entry.isImplied === true ? -1 : -2)
        return
      case 'address-names':
        this.mixBytes(entry.owner)
        this.mix(-3)
    }
  }

  private mixRdata({ bytes, target }: Rdata): void {
    this.mixBytes(bytes)
    if (target === undefined) this.mix(-5)
    else this.mixBytes(target)
  }

  private beginIn(namespace: string): void {
    if (namespace !== this.namespace) {
      this.low = FIRST_SEED
      this.high = SECOND_SEED
      for (let i = 0; i < namespace.length; i++) this.mix(namespace.charCodeAt(i))
      this.namespace = namespace
      this.namespaceLow = this.low
      this.namespaceHigh = this.high
    }
    this.low = this.namespaceLow
    this.high = this.namespaceHigh
  }

  /** Takes in how many bytes there are, and four of them at a time. */
  private mixBytes(octets: Uint8Array): void {
    const size = octets.length
    this.mix(size)
    let at = 0
    for (; at + 4 <= size; at += 4) {
      const low = byteAt(octets, at) | (byteAt(octets, at + 1) << 8)
      this.mix(low | (byteAt(octets, at + 2) << 16) | (byteAt(octets, at + 3) << 24))
    }
    if (at === size) return
    let last = 0
    for (let i = size - 1; i >= at; i--) last = (last << 8) | byteAt(octets, i)
    this.mix(last)
  }

  private mix(value: number): void {
    const low = Math.imul(this.low ^ value, FIRST_FACTOR)
    this.low = low ^ (low >>> 13)
    const high = Math.imul(this.high ^ value, SECOND_FACTOR)
    this.high = high ^ (high >>> 16)
  }
}
