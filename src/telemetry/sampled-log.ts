/**
 * A log that what happens again and again does not fill: of events that say the same, some a minute
 * are told, and then how many were not.
 * @module
 */
import type { Log, LogEvent } from './log.ts'

/** What a sampled log needs. */
export type SampledLogOptions = {
  /** Gets what is told. */
  readonly log: Log
  /** Milliseconds since some moment, by a clock that never goes back. */
  readonly now: () => number
  /** Events with the same level, message and cluster that are told a minute. */
  readonly perMinute?: number
}

const PER_MINUTE = 10
const MINUTE_MS = 60_000
/** Kinds of events that are told apart; with one more all are counted anew. */
const KINDS_MAX = 256

type Count = { readonly sinceMs: number; told: number; untold: number }

/** Makes a log; an event after some that were not told says in `untold` how many these were. */
export function sampledLog({ log, now, perMinute = PER_MINUTE }: SampledLogOptions): Log {
  const counts = new Map<string, Count>()
  return (event: LogEvent) => {
    const key = JSON.stringify([event.level, event.message, event.cluster])
    const nowMs = now()
    const known = counts.get(key)
    const isRecent = known !== undefined && nowMs - known.sinceMs < MINUTE_MS
    if (isRecent && known.told >= perMinute) {
      known.untold++
      return
    }
    if (isRecent) {
      known.told++
      log(event)
      return
    }
    if (counts.size >= KINDS_MAX) counts.clear()
    counts.set(key, { sinceMs: nowMs, told: 1, untold: 0 })
    const untold = known?.untold ?? 0
    log(untold === 0 ? event : { ...event, untold })
  }
}
