/**
 * Hedging: queries a second upstream when the first is slow (Dean and Barroso, "The Tail at Scale",
 * 2013).
 * @module
 */
import { metricInfo } from '../../../dns/telemetry/metrics.ts'
import type { Host } from '../../contract/host.ts'

/** Second queries for each query, on average. */
const SHARE = 0.1
/** Second queries that may be sent at once after a time without any. */
const BURST = 10

const HEDGES = metricInfo(
  'kubedoh_forward_hedges_total',
  'Slow queries by what the second upstream did: won, lost, failed; or none was queried.',
  'result',
)

/** Starts a query; the signal ends it. */
type Start<T> = (signal: AbortSignal) => Promise<T>

/** The second queries of one `forward` directive. */
export class Hedging<T> {
  private readonly delayMs: number
  private readonly host: Host
  private readonly isGood: (result: T) => boolean
  private credit = BURST

  /**
   * @param delayMs time after which a query is slow
   * @param isGood whether a result ends the other query
   */
  constructor(delayMs: number, host: Host, isGood: (result: T) => boolean) {
    this.delayMs = delayMs
    this.host = host
    this.isGood = isGood
  }

  /**
   * Runs a query, and a second one if the first is slow. Resolves with the first good result, and
   * aborts the other query; without one, with all results.
   * @param first never rejects
   * @param next returns the second query; `undefined` for none
   */
  run(first: Start<T>, next: () => Start<T> | undefined): Promise<readonly T[]> {
    this.credit = Math.min(this.credit + SHARE, BURST)
    const { promise, resolve } = Promise.withResolvers<readonly T[]>()
    const aborter = new AbortController()
    const results: T[] = []
    let running = 1
    let hasSecond = false
    const end = (result: T, isFirst: boolean): void => {
      if (aborter.signal.aborted) return
      running--
      results.push(result)
      const isGood = this.isGood(result)
      if (!isGood && running > 0) return
      if (hasSecond) this.count(isGood ? (isFirst ? 'lost' : 'won') : 'failed')
      cancel()
      aborter.abort()
      resolve(isGood ? [result] : results)
    }
    const cancel = this.host.after(this.delayMs, () => {
      const second = this.credit < 1 ? undefined : next()
      if (second === undefined) {
        this.count('none')
        return
      }
      this.credit--
      running++
      hasSecond = true
      void second(aborter.signal).then((result) => end(result, false))
    })
    void first(aborter.signal).then((result) => end(result, true))
    return promise
  }

  private count(result: 'won' | 'lost' | 'failed' | 'none'): void {
    this.host.metrics.counter(HEDGES, [result]).value++
  }
}
