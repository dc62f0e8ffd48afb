/**
 * What a process says about itself: one JSON object a line.
 * @module
 */

/** How much an event matters. */
export type Level = 'debug' | 'info' | 'warning' | 'error'

/** What happened: a sentence, and facts beside it. */
export type LogEvent = {
  readonly level: Level
  readonly message: string
  readonly [fact: string]: string | number | boolean | undefined
}

/** Takes an event; where it goes is the runtime's. */
export type Log = (event: LogEvent) => void

/** Formats an event as a line of JSON without its line end. `timeMs` counts from 1970. */
export function formatLogEvent(event: LogEvent, timeMs: number): string {
  return JSON.stringify({ time: new Date(timeMs).toISOString(), ...event })
}
