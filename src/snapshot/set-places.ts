/**
 * Where the sets of a shard in the making are, so that equal ones are written once.
 * @module
 */
import { hashName } from './name-hash.ts'
import { isSameRdata, type SetDraft } from './set-drafts.ts'

type Place = { readonly set: SetDraft; readonly offset: number }

/** Sets and their offsets. */
export class SetPlaces {
  /** The first set with each hash; another one with the same is only not found again. */
  private readonly places = new Map<number, Place>()

  /** Forgets all sets. */
  clear(): void {
    this.places.clear()
  }

  /**
   * Finds the offset of a set with the same records in the same order.
   * @param place makes room for the set when there is none, and returns its offset
   */
  offsetOf(set: SetDraft, place: () => number): number {
    const hash = hashOf(set)
    const known = this.places.get(hash)
    if (known !== undefined && isSame(known.set, set)) return known.offset
    const offset = place()
    if (known === undefined) this.places.set(hash, { set, offset })
    return offset
  }
}

function hashOf({ type, ttlSeconds, rdata }: SetDraft): number {
  let hash = type ^ (ttlSeconds << 8)
  for (const { bytes, target } of rdata) {
    hash = hashName(bytes, bytes.length, hash)
    if (target !== undefined) hash = hashName(target, target.length, hash)
  }
  return hash
}

function isSame(a: SetDraft, b: SetDraft): boolean {
  if (a.type !== b.type || a.ttlSeconds !== b.ttlSeconds) return false
  if (a.rdata.length !== b.rdata.length) return false
  return a.rdata.every((rdata, i) => isSameRdata(rdata, b.rdata[i]))
}
