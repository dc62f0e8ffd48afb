/**
 * KV or R2 that lies, before a store that fails, for `store-faults.ts`.
 * @module
 */
import {
  type BlobStore,
  type ClusterBlobs,
  originWithBlobs,
  writerWithBlobs,
} from '../../src/gateway/snapshots/blob-store.ts'
import type { Clock } from '../gateway/fault-world.ts'
import { flip, memoryMedium } from '../gateway/faulty-media.ts'
import type { Medium, Random } from '../gateway/store-faults.ts'

/** Reads of ten that go well. */
const GOOD = 5
/** How long a read hangs. */
const HANG_MS = 400
let runs = 0

/** Puts a store of blobs, the keys of which no other run has, before one in memory. */
export function nearMedium(blobs: BlobStore, random: Random): Medium {
  const store = memoryMedium()
  const cluster = `run-${runs++}`
  let hung = 0
  const near = (clock: Clock): ClusterBlobs => ({
    cluster,
    blobs: {
      ...blobs,
      get: async (key) => {
        const bytes = await blobs.get(key)
        switch (random(5 + GOOD)) {
          case 0:
            return bytes && flip(bytes, random)
          case 1:
            return bytes?.slice(0, random(bytes.length))
          case 2:
            return undefined
          case 3:
            throw new Error('the store is away')
          case 4:
            hung++
            return new Promise((resolve) => {
              clock.after(HANG_MS, () => {
                hung--
                resolve(bytes)
              })
            })
          default:
            return bytes
        }
      },
    },
    after: clock.after,
    elapsed: clock.elapsed,
    onError: () => undefined,
  })
  return {
    ...store,
    isOneProcess: false,
    mayHang: () => true,
    hangs: () => hung > 0 || store.hangs(),
    near: {
      origin: (origin, clock) => originWithBlobs(origin, near(clock)),
      writer: (writer, clock) => writerWithBlobs(writer, near(clock)),
    },
  }
}
