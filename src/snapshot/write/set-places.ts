/**
 * Where the sets of a shard in the making are, so that equal ones are written once.
 * @module
 */
import { hashRdata, isSameRdata, type SetDraft } from './set-drafts.ts'

/** Sets that have their places. */
export class SetPlaces {
  /** The first set with each hash; another one with the same is only not found again. */
  private readonly places = new Map<number, SetDraft>()

  /** Forgets all sets. */
  clear(): void {
    this.places.clear()
  }

  /** Finds a set with the same records in the same order, or notes this one as such. */
  find(set: SetDraft): SetDraft | undefined {
    const hash = hashOf(set)
    const known = this.places.get(hash)
    if (known !== undefined) return isSame(known, set) ? known : undefined
    this.places.set(hash, set)
    return undefined
  }
}

/** Sets that are alike but in the middle are found as well, mostly. */
function hashOf({ type, ttlSeconds, rdata }: SetDraft): number {
  const [first] = rdata
  const last = rdata.at(-1)
  const ends = (first === undefined ? 0 : hashRdata(first)) + (last ? hashRdata(last) : 0)
  return (ends ^ type ^ (ttlSeconds << 8) ^ (rdata.length << 16)) | 0
}

function isSame(a: SetDraft, b: SetDraft): boolean {
  if (a.type !== b.type || a.ttlSeconds !== b.ttlSeconds) return false
  if (a.rdata.length !== b.rdata.length) return false
  for (let i = 0; i < a.rdata.length; i++) {
    const one = a.rdata[i]
    if (one === undefined || !isSameRdata(one, b.rdata[i])) return false
  }
  return true
}
