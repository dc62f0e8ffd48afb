/**
 * Digests of entries. Entries with equal digests are taken for equal.
 * @module
 */
import { byteAt } from '../../bytes/bytes.ts'
import type { Rdata, ZoneEntry } from '../../records/zone-entry.ts'

const FIRST_SEED = 1
const SECOND_SEED = 0x5bd1e995
const FIRST_FACTOR = 0x85ebca6b
const SECOND_FACTOR = 0xc2b2ae35

/** A digest of entries in any order, 64 bits: the chance of missing a change is 2^-64. */
export type EntryDigest = { low: number; high: number }

/** Computes digests. */
export class EntryDigester {
  private low = 0
  private high = 0
  /** The last namespace and its hash: neighbours mostly share theirs. */
  private namespace = ''
  private namespaceLow = FIRST_SEED
  private namespaceHigh = SECOND_SEED

  /** Adds an entry to a digest. */
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

  /** Mixes the number of bytes, then four bytes at a time. */
  private mixBytes(bytes: Uint8Array): void {
    const size = bytes.length
    this.mix(size)
    let at = 0
    for (; at + 4 <= size; at += 4) {
      const low = byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8)
      this.mix(low | (byteAt(bytes, at + 2) << 16) | (byteAt(bytes, at + 3) << 24))
    }
    if (at === size) return
    let last = 0
    for (let i = size - 1; i >= at; i--) last = (last << 8) | byteAt(bytes, i)
    this.mix(last)
  }

  private mix(value: number): void {
    const low = Math.imul(this.low ^ value, FIRST_FACTOR)
    this.low = low ^ (low >>> 13)
    const high = Math.imul(this.high ^ value, SECOND_FACTOR)
    this.high = high ^ (high >>> 16)
  }
}
