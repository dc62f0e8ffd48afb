/**
 * Plans the index of a shard: the slot of each name.
 * @module
 */
import { word } from '../../dns/bytes/bytes.ts'

/** Most probes of a search; with longer ones another seed is tried. */
const PROBES_GOOD = 16
const SEEDS_TRIED = 64

/** The index of some names. */
export type IndexPlan = {
  readonly seed: number
  /** A power of two. */
  readonly slotCount: number
  /** Hashes of the names, in their order. */
  readonly hashes: Int32Array
}

/**
 * Tries seeds in turn until no search is long, so that crafted names cannot make searches slow.
 * @param hashAll hashes all names with a seed, in the same order at each call
 */
export function planIndex(nameCount: number, hashAll: (seed: number) => Int32Array): IndexPlan {
  const slotCount = 2 ** Math.ceil(Math.log2(Math.max(2, nameCount * 1.5)))
  for (let seed = 0; seed < SEEDS_TRIED; seed++) {
    const hashes = hashAll(seed)
    if (hasShortSearches(hashes, slotCount)) return { seed, slotCount, hashes }
  }
  return { seed: 0, slotCount, hashes: hashAll(0) }
}

/** The plan of a buffer of nodes, which no one searches. */
export const NO_INDEX: IndexPlan = { seed: 0, slotCount: 0, hashes: new Int32Array(0) }

/** Returns the number of the name in each slot, from 1; 0 for a free slot. */
export function placeNames({ hashes, slotCount }: IndexPlan): Int32Array {
  const placed = new Int32Array(slotCount)
  for (let i = 0; i < hashes.length; i++) {
    placed[freeSlot(placed, word(hashes, i) & (slotCount - 1))] = i + 1
  }
  return placed
}

function hasShortSearches(hashes: Int32Array, slotCount: number): boolean {
  const taken = new Int32Array(slotCount)
  for (let i = 0; i < hashes.length; i++) {
    const first = word(hashes, i) & (slotCount - 1)
    const slot = freeSlot(taken, first)
    taken[slot] = 1
    if (((slot - first) & (slotCount - 1)) >= PROBES_GOOD) return false
  }
  return true
}

function freeSlot(taken: Int32Array, first: number): number {
  let slot = first
  while (taken[slot] !== 0) slot = (slot + 1) & (taken.length - 1)
  return slot
}
