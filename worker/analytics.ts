/**
 * Data points of answers for Workers Analytics Engine; docs/analytics.md has what is where in them.
 * @module
 */
import type { Answered } from '../src/gateway/observed-gateway.ts'

/** Bytes of an index. */
const INDEX_BYTES_MAX = 96

/** The part of a dataset that is used. */
export type DatasetLike = {
  /** Takes a point and returns at once; the platform sends it later. */
  readonly writeDataPoint: (point: {
    readonly indexes: string[]
    readonly blobs: string[]
    readonly doubles: number[]
  }) => void
}

/**
 * Makes who writes a point for an answer. All are written: the platform chooses, where they are too
 * many for one index, which it keeps, and for how many each stands.
 */
export function pointWriter(dataset: DatasetLike): (answered: Answered) => void {
  return ({ clusters, words, numbers }) => {
    dataset.writeDataPoint({
      indexes: [clusters.slice(0, INDEX_BYTES_MAX)],
      blobs: [clusters, ...words],
      doubles: numbers,
    })
  }
}
