/**
 * Compares two builds in pairs of short phases, one right after the other, so that what disturbs
 * the machine disturbs both. Judges a row by the interval that holds the median of its ratios.
 * @module
 */
import { median, type Row } from '../row.ts'

/** Costs of both builds in one round, in the unit of their row. */
export type Pair = { readonly ours: number; readonly theirs: number }

/** A row, and what the ratio of both costs lies between; above 1, ours is slower. */
export type PairedRow = Row & {
  readonly low: number
  readonly high: number
  readonly verdict: Verdict
}

/** Whether a row got slower: `unclear` when more rounds would be needed to say so. */
export type Verdict = 'holds' | 'unclear' | 'slower'

/** How much slower a row may be: what a change of machine code alone can make of it. */
const SLOWER_MAX = 1.05
/** Chance that the median lies outside of its interval. */
const CHANCE_OUTSIDE_MAX = 0.05

/**
 * Returns the bounds of the median of some numbers, whatever their distribution: with n of them,
 * the chance that the median is below the k-th is that of less than k heads in n throws of a coin.
 */
export function medianInterval(numbers: readonly number[]): readonly [low: number, high: number] {
  const sorted = numbers.toSorted((a, b) => a - b)
  const n = sorted.length
  let [chance, below, k] = [2 ** -n, 0, 0]
  while (2 * (below + chance) <= CHANCE_OUTSIDE_MAX) {
    below += chance
    chance *= (n - k) / (k + 1)
    k++
  }
  if (k === 0) return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  return [sorted[k - 1] ?? Number.NaN, sorted[n - k] ?? Number.NaN]
}

/** Returns the row of some pairs. */
export function pairedRow(
  base: { readonly bench: string; readonly metric: string; readonly unit: string },
  pairs: readonly Pair[],
  peerName: string,
): PairedRow {
  const ratios = pairs.map(({ ours, theirs }) => ours / theirs)
  const [low, high] = medianInterval(ratios)
  const [ours, peer] = [median(pairs.map((one) => one.ours)), median(pairs.map((o) => o.theirs))]
  const verdict = high <= SLOWER_MAX ? 'holds' : low > SLOWER_MAX ? 'slower' : 'unclear'
  return { ...base, ours, peer, peerName, ratio: median(ratios), low, high, verdict }
}
