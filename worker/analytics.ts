/**
 * Data points of answers for Workers Analytics Engine; docs/analytics.md lists their fields.
 * @module
 */
import { recordOf, textOf } from '../src/dns/bytes/unknown.ts'
import type { Answered } from '../src/gateway/routes/answer-observer.ts'

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

/** What is written beside the answer. */
export type PointOptions = {
  /** Whether to write the identifiers of clients' tokens. */
  readonly hasTokens: boolean
}

/**
 * Returns a function that writes a data point for each answer. Where an index gets too many of
 * them, the platform samples, and stores with each point how many it stands for.
 */
export function pointWriter(
  dataset: DatasetLike,
  { hasTokens }: PointOptions,
): (answered: Answered) => void {
  return ({ clusters, rcode, type, method, freshness, name = '', tokenId, request, ms, bytes }) => {
    const { colo, country } = recordOf(recordOf(request).cf)
    const token = hasTokens ? tokenId : ''
    dataset.writeDataPoint({
      indexes: [clusters.slice(0, INDEX_BYTES_MAX)],
      // The order is published: queries name these columns by their numbers. Only add at the end.
      blobs: [
        ...[clusters, rcode, type, method, freshness, name],
        ...[token, textOf(colo), textOf(country)],
      ],
      doubles: [ms, bytes],
    })
  }
}
