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

/** Writes an event; the runtime decides where. */
export type Log = (event: LogEvent) => void

/** Formats an event as JSON without a line break. `timeMs` counts from 1970. */
export function formatLogEvent(event: LogEvent, timeMs: number): string {
  return JSON.stringify({ time: new Date(timeMs).toISOString(), ...event })
}
