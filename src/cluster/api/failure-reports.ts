/**
 * What a mirror does after a failed request: reports it once, and waits before the next attempt.
 * @module
 */
import { Backoff, type Timing } from './backoff.ts'
import { type ApiError, type Listed, type ObjectApi, STATUS_FORBIDDEN } from './object-api.ts'
import { describeMissingRights } from './rights.ts'

/** Longest wait that the API server may request. */
const RETRY_AFTER_MS_MAX = 60_000
/** Refusals in a row that mean a missing right: a server that starts refuses for a second, too. */
const REFUSALS_LEAST = 4

/** Options of the reports. */
export type FailureOptions = Pick<Timing, 'sleep' | 'random'> & {
  readonly api: ObjectApi
  readonly collection: Listed
  /** Called when a request fails, before the next attempt. */
  readonly onError: (message: string) => void
  /**
   * Logged errors that persist, shared by all mirrors of one server: each is logged once, and again
   * after a list succeeded in between. Default: its own.
   */
  readonly reported?: Set<string>
}

/** The failures of one mirror. */
export class FailureReports {
  private readonly options: FailureOptions
  private readonly backoff: Backoff
  private readonly reported: Set<string>
  /** The logged reason why the mirror cannot follow; '' while it can. */
  private failure = ''
  /** Responses 403 since the last success. */
  private refusals = 0

  constructor(options: FailureOptions) {
    this.options = options
    this.backoff = new Backoff(options.random)
    this.reported = options.reported ?? new Set()
  }

  /** Returns whether the server keeps refusing the request for a missing right. */
  get isForbidden(): boolean {
    return this.refusals >= REFUSALS_LEAST
  }

  /**
   * Reports a failure and waits: exponentially longer each time, and at least as long as the server
   * requests (RFC 9110 §10.2.3), plus up to half of that, so that clients do not return together.
   */
  async pause(error: ApiError, signal: AbortSignal): Promise<void> {
    const { sleep, random } = this.options
    const isForbidden = error.status === STATUS_FORBIDDEN
    if (isForbidden) this.refusals++
    const requestedMs = Math.min(RETRY_AFTER_MS_MAX, error.retryAfterMs ?? 0)
    const jitterMs = requestedMs === 0 ? 0 : (requestedMs / 2) * random()
    const delayMs = Math.max(this.backoff.next(), requestedMs + jitterMs)
    if (this.failure !== error.message) this.reported.delete(this.failure)
    this.failure = error.message
    if (!this.reported.has(error.message)) {
      this.reported.add(error.message)
      const { api, collection, onError } = this.options
      const rights = isForbidden ? await describeMissingRights(api, collection, signal) : ''
      const again = `again in ${(delayMs / 1000).toFixed(1)} s`
      onError(`cannot follow ${collection.resource}: ${error.message}${rights}; ${again}`)
    }
    await sleep(delayMs, signal)
  }

  /** Notes that the server responds: resets the back-off, and logs the next failure. */
  recover(): void {
    this.backoff.reset()
    this.refusals = 0
    this.reported.delete(this.failure)
    this.failure = ''
  }
}
