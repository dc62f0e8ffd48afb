/**
 * Digests of entries: two lots of entries with the same digest are held to be the same.
 * @module
 */
import type { Rdata, ZoneEntry } from '../records/zone-entry.ts'
import { hashName } from './name-hash.ts'

const FIRST_SEED = 1
const SECOND_SEED = 0x5bd1e995

/**
 * Digests entries in whatever order they come. The result is two numbers of 32 bits: that a change
 * goes unnoticed takes a chance of one in 2^64.
 */
export class EntryDigest {
  low = 0
  high = 0

  /** Takes in an entry. */
  add(entry: ZoneEntry): void {
    this.low = (this.low + hashEntry(entry, FIRST_SEED)) | 0
    this.high = (this.high + hashEntry(entry, SECOND_SEED)) | 0
  }
}

function hashEntry(entry: ZoneEntry, seed: number): number {
  const scoped = hashText(entry.scope, seed)
  switch (entry.kind) {
    case 'records': {
      let hash = hashOf(entry.owner, scoped ^ entry.type)
      hash = mix(hash, entry.ttlSeconds * 2 + (entry.isGlue === true ? 1 : 0))
      for (const rdata of entry.rdata) hash = hashRdata(rdata, hash)
      return hash
    }
    case 'pointer': {
      const hash = mix(hashOf(entry.address, scoped), entry.ttlSeconds)
      return hashOf(entry.target, hash ^ (entry.isYielding === true ? 1 : 0))
    }
    case 'pod-address':
      return mix(hashOf(entry.address, scoped), 6)
    case 'name':
      return mix(hashOf(entry.owner, scoped), entry.isImplied === true ? 3 : 2)
    case 'address-names':
      return mix(hashOf(entry.owner, scoped), 4)
  }
}

function hashRdata({ bytes, target }: Rdata, seed: number): number {
  const hash = hashOf(bytes, seed)
  return target === undefined ? mix(hash, 5) : hashOf(target, hash)
}

function hashOf(bytes: Uint8Array, seed: number): number {
  return mix(hashName(bytes, bytes.length, seed), bytes.length)
}

function hashText(text: string, seed: number): number {
  let hash = seed
  for (let i = 0; i < text.length; i++) hash = mix(hash, text.charCodeAt(i))
  return hash
}

function mix(hash: number, value: number): number {
  const product = Math.imul(hash ^ value, 0x85ebca6b)
  return product ^ (product >>> 13)
}
