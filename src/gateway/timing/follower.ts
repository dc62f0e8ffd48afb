/**
 * Follows something that another part holds: a cluster's snapshot, the list of tokens, a shard.
 *
 * | state | costs | ends when |
 * |---|---|---|
 * | `fresh` | nothing | `refreshMs` have passed |
 * | `due` | the next request opens a watch | the origin answers or fails |
 * | `watching` | one call, open for `waitMs` | the watch ends |
 * | `away` | an attempt after 1, 2, 4, 4 … s | the origin answers |
 *
 * In each state, a request that finds its answer in memory waits for nothing. What is missing waits
 * for the origin, but while that is away, fails at once. Without requests nothing is read.
 * @module
 */
import { errorText } from '../../dns/bytes/unknown.ts'
import { type After, within } from './within.ts'

/** How long an origin may take until it answers. */
export const ANSWER_MS = 2000
/**
 * How long a request waits for the attempt of another: on Workers that never ends once its request
 * is cancelled.
 */
const JOIN_MS = 500
/** How long to wait after a failure, and after many in a row. */
const RETRY_MS = 1000
const RETRY_MS_MAX = 4000
/** The least time between two watches of an origin that can wait: some end early. */
const REOPEN_MS = 1000

/** What a follower does next; the table above says what each state means. */
export type FollowerState = 'fresh' | 'due' | 'watching' | 'away'

/** What a follower needs. */
export type FollowerOptions = {
  /**
   * Reads what the origin has, calls `seen` once that is in memory, then goes on to do so with each
   * change for `waitMs`; with 0, reads once.
   */
  readonly watch: (waitMs: number, seen: () => void) => Promise<void>
  /** Time after which what was read may have changed. */
  readonly refreshMs: number
  /** How long a watch lasts; 0 for an origin that cannot wait. */
  readonly waitMs?: number
  /** Milliseconds since some moment, by a monotonic clock. */
  readonly elapsed: () => number
  readonly after: After
  /** Gets the text of an error. */
  readonly onError: (message: string) => void
}

/** An open watch. */
type Attempt = {
  readonly begunMs: number
  readonly waitMs: number
  /** How often {@link Follower.relook} was called before: what was read earlier may be old. */
  readonly epoch: number
  /** Whether the origin has answered. */
  isAnswered: boolean
  /** Settles when the origin answers, or the attempt ends without that. */
  readonly answered: PromiseWithResolvers<void>
  /** Settles when the watch ends. */
  done: Promise<void>
}

/** Follows one origin. */
export class Follower {
  private readonly options: FollowerOptions
  private attempt: Attempt | undefined
  private seenMs = Number.NEGATIVE_INFINITY
  /** When the last watch was opened that waits. */
  private watchedMs = Number.NEGATIVE_INFINITY
  private failedMs = Number.NEGATIVE_INFINITY
  /** Failures in a row. */
  private failures = 0
  private epoch = 0

  constructor(options: FollowerOptions) {
    this.options = options
  }

  /** Returns the state; a watch that is open and silent counts as `due` until it fails. */
  state(): FollowerState {
    this.expire()
    if (this.attempt?.isAnswered === true) return 'watching'
    if (this.failures > 0) return 'away'
    return this.options.elapsed() - this.seenMs < this.options.refreshMs ? 'fresh' : 'due'
  }

  /** Returns the milliseconds since the origin has last answered; infinite before that. */
  sinceSeenMs(): number {
    return this.options.elapsed() - this.seenMs
  }

  /** Opens a watch when it is time; returns the promise to keep alive, which never rejects. */
  follow(): Promise<void> | undefined {
    const state = this.state()
    if (state === 'fresh' || this.attempt !== undefined || !this.mayOpen(state)) return undefined
    this.watchedMs = this.options.elapsed()
    return this.open(this.options.waitMs ?? 0).done
  }

  /**
   * Waits until memory has what the origin has. Reads it when no watch is open: a request that has
   * its response keeps no watch alive.
   * @param limitMs how long to wait
   * @returns whether it has; false at once while the origin is away and no attempt is due
   */
  async look(limitMs: number = ANSWER_MS): Promise<boolean> {
    const endMs = this.options.elapsed() + limitMs
    for (;;) {
      const state = this.state()
      if (state === 'watching' || state === 'fresh') return true
      const restMs = endMs - this.options.elapsed()
      const joined = this.attempt
      if (restMs <= 0 || (joined === undefined && state === 'away' && !this.isRetryDue())) {
        return false
      }
      const attempt = joined ?? this.open(0)
      const limit = joined === undefined ? restMs : Math.min(JOIN_MS, restMs)
      const isSettled = await this.isSettled(attempt, limit)
      if (attempt.isAnswered && attempt.epoch === this.epoch) return true
      if (!isSettled && joined === this.attempt && limit === JOIN_MS) this.attempt = undefined
    }
  }

  /** As {@link look}, also where memory had what the origin has: that has changed since. */
  relook(): Promise<boolean> {
    this.epoch++
    this.seenMs = Math.min(this.seenMs, this.options.elapsed() - this.options.refreshMs)
    this.attempt = undefined
    this.failedMs = Number.NEGATIVE_INFINITY
    return this.look()
  }

  private mayOpen(state: FollowerState): boolean {
    if (state === 'away') return this.isRetryDue()
    const { waitMs = 0, elapsed } = this.options
    return waitMs === 0 || elapsed() - this.watchedMs >= REOPEN_MS
  }

  private isRetryDue(): boolean {
    const waitMs = Math.min(RETRY_MS * 2 ** (this.failures - 1), RETRY_MS_MAX)
    return this.options.elapsed() - this.failedMs >= waitMs
  }

  private open(waitMs: number): Attempt {
    const begunMs = this.options.elapsed()
    const answered = Promise.withResolvers<void>()
    const { epoch } = this
    const { promise: done } = answered
    const attempt: Attempt = { begunMs, waitMs, epoch, isAnswered: false, answered, done }
    this.attempt = attempt
    attempt.done = this.run(attempt)
    return attempt
  }

  private async run(attempt: Attempt): Promise<void> {
    const { watch, onError } = this.options
    try {
      await watch(attempt.waitMs, () => this.note(attempt))
      if (!attempt.isAnswered) throw new Error('the origin ended without an answer')
    } catch (error) {
      if (attempt === this.attempt || !attempt.isAnswered) onError(errorText(error))
      // A watch that ends early, as by a deploy, is opened again; only then it may be away.
      if (!attempt.isAnswered) this.fail(attempt, this.options.elapsed())
    } finally {
      if (attempt === this.attempt) this.attempt = undefined
      attempt.answered.resolve()
    }
  }

  /** Notes that memory has what the origin has. */
  private note(attempt: Attempt): void {
    attempt.isAnswered = true
    attempt.answered.resolve()
    if (attempt.epoch !== this.epoch) return
    this.failures = 0
    this.seenMs = this.options.elapsed()
    if (this.attempt === attempt || this.attempt?.isAnswered !== false) return
    // Those who wait for a later attempt have what they want.
    this.attempt.answered.resolve()
    this.attempt = undefined
  }

  private fail(attempt: Attempt, failedMs: number): void {
    if (attempt !== this.attempt) return
    this.failures++
    this.failedMs = failedMs
  }

  /** Gives up an attempt whose time is over; the request that opened it may be gone. */
  private expire(): void {
    const { attempt } = this
    if (attempt === undefined) return
    const { elapsed, onError } = this.options
    const limitMs = attempt.isAnswered ? attempt.waitMs + ANSWER_MS : ANSWER_MS
    if (elapsed() - attempt.begunMs < limitMs) return
    if (!attempt.isAnswered) {
      onError(`no answer from the origin after ${ANSWER_MS} ms`)
      this.fail(attempt, attempt.begunMs + ANSWER_MS)
    }
    this.attempt = undefined
  }

  private async isSettled({ answered }: Attempt, limitMs: number): Promise<boolean> {
    try {
      await within(this.options.after, answered.promise, limitMs)
      return true
    } catch {
      return false
    }
  }
}

/** Keeps a promise alive beyond the response. */
export type KeepAlive = (promise: Promise<void>) => void

/** Opens a watch when it is time, and keeps it alive. */
export function keepFollowing(
  one: { readonly follow: () => Promise<void> | undefined },
  keepAlive: KeepAlive,
): void {
  const watch = one.follow()
  if (watch !== undefined) keepAlive(watch)
}
