/**
 * The streams of a connection: which are open, which were, and how they end (RFC 9113 §5.1,
 * §5.4.2).
 * @module
 */
import { RESET_STREAMS_MAX, RESETS } from './bounds.ts'
import { ERROR_CODE } from './frame.ts'
import { RateBound } from './rate-bound.ts'
import { ReceiveWindow } from './receive-window.ts'
import type { Sender } from './sender.ts'
import type { Stream } from './stream.ts'

/** What streams need of their connection. */
export type StreamsOptions = { readonly sender: Sender; readonly now: () => number }

/** The streams of one connection, and its window for what they receive. */
export class Streams {
  /** The last that the client has begun; all above are idle (RFC 9113 §5.1.1). */
  lastId = 0
  /** When a stream was last begun or closed. */
  changedMs: number
  /** How much all streams together may still receive. */
  readonly window: ReceiveWindow = new ReceiveWindow()
  /** The one that was begun last, when it is open: most are closed before the next is begun. */
  private newest: Stream | undefined
  /** All others that are open. */
  private readonly older = new Map<number, Stream>()
  private readonly reset = new Set<number>()
  private readonly resets: RateBound
  private readonly sender: Sender
  private readonly now: () => number

  constructor({ sender, now }: StreamsOptions) {
    this.sender = sender
    this.now = now
    this.changedMs = now()
    this.resets = new RateBound(RESETS, this.changedMs)
  }

  /** How many are not closed. */
  get count(): number {
    return this.older.size + (this.newest === undefined ? 0 : 1)
  }

  /** Finds one that is not closed. */
  find(id: number): Stream | undefined {
    const { newest } = this
    return newest?.id === id ? newest : this.older.get(id)
  }

  /** All that are not closed. */
  all(): readonly Stream[] {
    const { newest, older } = this
    return newest === undefined ? [...older.values()] : [...older.values(), newest]
  }

  /** Takes in a stream that the client has begun. */
  add(stream: Stream): void {
    const { newest } = this
    if (newest !== undefined) this.older.set(newest.id, newest)
    this.newest = stream
    this.changedMs = stream.progressMs
  }

  /** Whether we have reset it of late: what the client had sent by then is passed over. */
  wasReset(id: number): boolean {
    return this.reset.has(id)
  }

  /** Lets a stream go that is over for both sides, or for the client. */
  close(stream: Stream): void {
    if (this.newest === stream) this.newest = undefined
    else this.older.delete(stream.id)
    this.sender.drop(stream)
    this.changedMs = this.now()
    const { unread } = stream
    stream.unread = 0
    this.credit(unread)
  }

  /**
   * Ends a stream whose response is whole: of a request that is not, no more is wanted (§8.1). One
   * whose body is ignored anyway waits for its end, so that what is wrong with it is reported.
   */
  finish(stream: Stream): void {
    if (stream.isRemoteClosed) this.close(stream)
    else if (stream.isBodyIgnored) {
      stream.isAnswered = true
      stream.receiver = undefined
    } else this.abort(stream.id, ERROR_CODE.NO_ERROR)
  }

  /** Resets a stream, open or refused. */
  abort(id: number, code: number): void {
    this.sender.outbox.reset(id, code)
    this.markReset(id)
    this.breakOff(id)
  }

  /**
   * Resets a stream because of what the client has sent.
   * @returns the connection error that it is when there are too many of these
   */
  fail(id: number, code: number): number {
    this.abort(id, code)
    return this.countReset()
  }

  /** Lets a stream go before its time, and tells its receiver. */
  breakOff(id: number): void {
    const stream = this.find(id)
    if (stream === undefined) return
    this.close(stream)
    stream.receiver?.reset()
  }

  /** Counts a stream that the client has spoilt. @returns the connection error when too many are */
  countReset(): number {
    return this.resets.allows(this.now()) ? ERROR_CODE.NO_ERROR : ERROR_CODE.ENHANCE_YOUR_CALM
  }

  /** A stream's receiver has consumed bytes: the client may send as many more (§6.9). */
  consume(stream: Stream, size: number): void {
    stream.unread -= size
    this.credit(size)
    if (stream.isRemoteClosed) return
    const increment = stream.receiveWindow.credit(size)
    if (increment === 0) return
    stream.progressMs = this.now()
    this.sender.outbox.windowUpdate(stream.id, increment)
  }

  /** Bytes of DATA are held no more. */
  credit(size: number): void {
    const increment = size === 0 ? 0 : this.window.credit(size)
    if (increment > 0) this.sender.outbox.windowUpdate(0, increment)
  }

  private markReset(id: number): void {
    this.reset.add(id)
    if (this.reset.size <= RESET_STREAMS_MAX) return
    for (const oldest of this.reset) {
      this.reset.delete(oldest)
      return
    }
  }
}
