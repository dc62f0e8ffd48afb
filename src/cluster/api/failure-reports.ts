/**
 * What a mirror does after a failed request: reports it, again each minute while it persists, and
 * waits before the next attempt.
 * @module
 */
import { Backoff, type Timing } from './backoff.ts'
import { type ApiError, type Listed, type ObjectApi, STATUS_FORBIDDEN } from './object-api.ts'
import { describeMissingRights } from './rights.ts'

/** Longest wait that the API server may request. */
const RETRY_AFTER_MS_MAX = 60_000
/** Interval at which a failure that persists is logged again. */
const REPEAT_MS = 60_000
/** Maximum length of the reason in `problem`, in UTF-16 code units. */
const REASON_LENGTH_MAX = 200
/** Refusals in a row that mean a missing right: a server that starts refuses for a second, too. */
const REFUSALS_LEAST = 4

/** Options of the reports. */
export type FailureOptions = Pick<Timing, 'sleep' | 'random' | 'elapsed'> & {
  readonly api: ObjectApi
  readonly collection: Listed
  /** Called when the server turns out not to serve the kind. */
  readonly onWarning: (message: string) => void
  /** Called when a request fails, before the next attempt. */
  readonly onError: (message: string) => void
  /** Shared by all mirrors of one server. Default: its own. */
  readonly reported?: Reported
}

/**
 * Errors that persist, and when each was last logged (`elapsed`): one line a minute for all mirrors
 * of one server, and another one after a list succeeded in between.
 */
export type Reported = Map<string, number>

/** The failures of one mirror. */
export class FailureReports {
  private readonly options: FailureOptions
  private readonly backoff: Backoff
  private readonly reported: Reported
  /** The logged reason why the mirror cannot follow; '' while it can. */
  private failure = ''
  /** When it became unable to follow (`elapsed`). */
  private sinceMs = 0
  /** Responses 403 since the last success. */
  private refusals = 0
  private absent = false

  constructor(options: FailureOptions) {
    this.options = options
    this.backoff = new Backoff(options.random)
    this.reported = options.reported ?? new Map()
  }

  /** Returns whether the server keeps refusing the request for a missing right. */
  get isForbidden(): boolean {
    return this.refusals >= REFUSALS_LEAST
  }

  /** Returns whether the server does not serve the kind, as far as known. */
  get isAbsent(): boolean {
    return this.absent
  }

  /** Notes that the server does not serve the kind, and logs that once. */
  noteAbsent(): void {
    const { collection, onWarning } = this.options
    const absent = `the API server does not serve ${collection.resource}`
    if (!this.absent) onWarning(`${absent}; no names are published for it`)
    this.absent = true
  }

  /**
   * Reports a failure and waits: exponentially longer each time, and at least as long as the server
   * requests (RFC 9110 §10.2.3), plus up to half of that, so that clients do not return together.
   */
  async pause(error: ApiError, signal: AbortSignal): Promise<void> {
    const { sleep, random, elapsed } = this.options
    const isForbidden = error.status === STATUS_FORBIDDEN
    if (isForbidden) this.refusals++
    const requestedMs = Math.min(RETRY_AFTER_MS_MAX, error.retryAfterMs ?? 0)
    const jitterMs = requestedMs === 0 ? 0 : (requestedMs / 2) * random()
    const delayMs = Math.max(this.backoff.next(), requestedMs + jitterMs)
    const nowMs = elapsed()
    if (this.failure === '') this.sinceMs = nowMs
    if (this.failure !== error.message) this.reported.delete(this.failure)
    this.failure = error.message
    const loggedMs = this.reported.get(error.message)
    if (loggedMs === undefined || nowMs - loggedMs >= REPEAT_MS) {
      this.reported.set(error.message, nowMs)
      const { api, collection, onError } = this.options
      const rights = isForbidden ? await describeMissingRights(api, collection, signal) : ''
      const again = `again in ${(delayMs / 1000).toFixed(1)} s`
      const what = `cannot follow ${collection.resource}${this.duration()}`
      onError(`${what}: ${error.message}${rights}; ${again}`)
    }
    await sleep(delayMs, signal)
  }

  /**
   * Returns why the objects are missing or may be old; `undefined` if nothing failed.
   * @param hasSynced whether the collection has been listed once
   */
  problem(hasSynced: boolean): string | undefined {
    const { resource } = this.options.collection
    if (this.absent) return `the API server does not serve ${resource}`
    const reason = this.failure.replace(/\s+/g, ' ').slice(0, REASON_LENGTH_MAX)
    if (!hasSynced) return `waits for the list of ${resource}${reason && `: ${reason}`}`
    return reason === '' ? undefined : `cannot follow ${resource}${this.duration()}: ${reason}`
  }

  /** Returns for how long it has not followed, from a minute on; '' before. */
  private duration(): string {
    const ms = this.options.elapsed() - this.sinceMs
    return ms < REPEAT_MS ? '' : ` for ${Math.floor(ms / 1000)} s`
  }

  /** Notes that the server responds: resets the back-off, and logs the next failure. */
  recover(): void {
    this.backoff.reset()
    this.refusals = 0
    this.absent = false
    this.reported.delete(this.failure)
    this.failure = ''
  }
}
