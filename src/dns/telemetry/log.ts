/**
 * Log events, formatted as one JSON object per line.
 * @module
 */
/** Severity of an event. */
export type Level = 'debug' | 'info' | 'warning' | 'error'

/** A log event: a message, and fields. */
export type LogEvent = {
  readonly level: Level
  readonly message: string
  readonly [fact: string]: string | number | boolean | undefined
}

/** The format of a program's log lines: JSON, text for people, or as CoreDNS writes them. */
export type LogFormat = 'json' | 'text' | 'coredns'

/** Writes an event; the runtime decides where. */
export type Log = (event: LogEvent) => void

/** Formats an event as JSON without a line break. `timeMs` counts from 1970. */
export function formatLogEvent(event: LogEvent, timeMs: number): string {
  return JSON.stringify({ time: new Date(timeMs).toISOString(), ...event })
}

/** Options of a sampled log. */
type SampledLogOptions = {
  /** Receives the events that are not dropped. */
  readonly log: Log
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number
  /** Events per minute with the same level, message and cluster. */
  readonly perMinute?: number
}

const PER_MINUTE = 10
const MINUTE_MS = 60_000
/** Maximum number of distinct events; one more resets all counts. */
const KINDS_MAX = 256

type Count = { readonly sinceMs: number; logged: number; suppressed: number }

/**
 * Creates a sampled log. The first event after dropped ones has their number in `suppressed`. Never
 * drops an event whose `audit` is true.
 */
export function sampledLog({ log, now, perMinute = PER_MINUTE }: SampledLogOptions): Log {
  const counts = new Map<string, Count>()
  return (event: LogEvent) => {
    if (event.audit === true) {
      log(event)
      return
    }
    const key = JSON.stringify([event.level, event.message, event.cluster])
    const nowMs = now()
    const known = counts.get(key)
    const isRecent = known !== undefined && nowMs - known.sinceMs < MINUTE_MS
    if (isRecent && known.logged >= perMinute) {
      known.suppressed++
      return
    }
    if (isRecent) {
      known.logged++
      log(event)
      return
    }
    if (counts.size >= KINDS_MAX) counts.clear()
    counts.set(key, { sinceMs: nowMs, logged: 1, suppressed: 0 })
    const suppressed = known?.suppressed ?? 0
    log(suppressed === 0 ? event : { ...event, suppressed })
  }
}
