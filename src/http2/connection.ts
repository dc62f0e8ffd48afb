/**
 * A server's side of one connection (RFC 9113): bytes in, requests out; responses in, bytes out.
 *
 * No bytes make it throw. What is wrong with a stream ends the stream, what is wrong with the
 * connection ends that (§5.4); how much a client may ask for is in `bounds.ts`.
 * @module
 */
import { EMPTY } from '../bytes/bytes.ts'
import { FRAMES_PER_TURN } from './bounds.ts'
import { ControlFrames } from './control-frames.ts'
import { ERROR_CODE, FLAG, FRAME } from './frame.ts'
import { FrameReader } from './frame-reader.ts'
import type { Latin1 } from './header-decoder.ts'
import { type RequestHandler, Requests } from './requests.ts'
import { type ResponseHead, Responses, type WholeResponse } from './responses.ts'
import { Sender, type Sink } from './sender.ts'
import { OUR_SETTINGS } from './settings.ts'
import type { Stream } from './stream.ts'
import { Streams } from './streams.ts'

const { NO_ERROR, PROTOCOL_ERROR } = ERROR_CODE
const TOO_LARGE: WholeResponse = { status: 431, headers: {}, body: EMPTY }

/** How long a connection goes on without progress, in milliseconds. */
export type ProgressTimes = {
  /** For the first request, the rest of a frame or header block, all of a request's body. */
  readonly readMs: number
  /** Between requests. */
  readonly idleMs: number
  /** For the client to take more of a response. */
  readonly writeMs: number
}

/** What a connection works with. */
export type ConnectionOptions = {
  readonly sink: Sink
  readonly onRequest: RequestHandler
  readonly latin1: Latin1
  /** Milliseconds since some moment, for time-outs: a clock that nobody sets. */
  readonly now: () => number
  /** Milliseconds since 1970, for the Date field of responses. */
  readonly wallNow: () => number
  /** Calls back after what is under way, so that what is sent meanwhile is written together. */
  readonly defer: (run: () => void) => void
  /** Calls back after other connections have had their turn. */
  readonly yieldTurn: (run: () => void) => void
}

/** One connection, from its preface on. */
export class Connection {
  private readonly options: ConnectionOptions
  private readonly reader = new FrameReader()
  private readonly sender: Sender
  private readonly streams: Streams
  private readonly control: ControlFrames
  private readonly requests: Requests
  private readonly responses: Responses
  private nowMs: number
  /** Since when part of a frame or header block is here; `Infinity` when none is. */
  private partSinceMs = Number.POSITIVE_INFINITY
  private hasSettings = false
  /** Whether frames are being read just now: what is sent meanwhile is written after them. */
  private isReading = false
  private isFlushDue = false
  /** Whether other connections have their turn before more frames are read. */
  private isYielding = false
  private isOver = false
  /** Whether a request was answered other than with an error. */
  hasServed = false

  constructor(options: ConnectionOptions) {
    const { sink, onRequest, latin1, wallNow } = options
    this.options = options
    this.nowMs = options.now()
    const now = (): number => this.nowMs
    this.sender = new Sender(sink, {
      onEnd: (stream) => this.streams.finish(stream),
      onWritable: (stream) => stream.receiver?.writable(),
      now,
    })
    const { sender } = this
    this.streams = new Streams({ sender, now })
    const { streams } = this
    this.control = new ControlFrames({ sender, streams, now })
    this.responses = new Responses({ sender, streams, wallNow })
    const onTooLarge = (id: number): void => this.responses.respond(id, TOO_LARGE)
    const { control } = this
    this.requests = new Requests({ streams, control, latin1, now, onRequest, onTooLarge })
    sender.outbox.settings(OUR_SETTINGS)
    sender.flush()
  }

  /**
   * Whether nothing more is read for now: the client does not take what is written, or other
   * connections have their turn.
   */
  get isBlocked(): boolean {
    return this.sender.isBlocked || this.isYielding
  }

  /**
   * Since when the client is waited for, in milliseconds; `Infinity` while a complete request waits
   * for its response, and the client takes what is written.
   */
  get idleSinceMs(): number {
    const { sender, streams } = this
    if (sender.isBlocked) return sender.progressMs
    const isAtWork = streams.all().some((stream) => stream.isRemoteClosed)
    return isAtWork ? Number.POSITIVE_INFINITY : streams.changedMs
  }

  /** Takes bytes from the client, which it may hold on to. */
  receive(chunk: Uint8Array): void {
    if (this.isOver) return
    this.reader.push(chunk)
    if (!this.isYielding) this.proceed()
  }

  /** The network takes bytes again. */
  drained(): void {
    if (this.isOver) return
    this.nowMs = this.options.now()
    this.sender.drained()
    if (!this.isYielding) this.proceed()
  }

  /** Sends a whole response; nothing when the stream is closed. */
  respond(id: number, response: WholeResponse): void {
    this.begun()
    this.hasServed ||= isGood(response.status)
    this.responses.respond(id, response)
  }

  /** Sends the head of a response, or of an interim one; nothing when the stream is closed. */
  begin(id: number, head: ResponseHead): void {
    this.begun()
    this.hasServed ||= isGood(head.status)
    this.responses.begin(id, head)
  }

  /** Sends a part of a body; the next when the receiver hears `writable`, maybe in this call. */
  write(id: number, part: Uint8Array): void {
    this.begun()
    this.responses.write(id, part)
  }

  /** Ends a body. */
  end(id: number): void {
    this.begun()
    this.responses.end(id)
  }

  /** Resets a stream that we cannot or do not want to go on with. */
  reset(id: number, code: number): void {
    this.begun()
    if (this.streams.find(id) !== undefined) this.streams.abort(id, code)
  }

  /** Says that a receiver holds so many bytes of a body no more. */
  consumed(id: number, size: number): void {
    this.begun()
    const stream = this.streams.find(id)
    if (stream !== undefined) this.streams.consume(stream, size)
  }

  /** Ends what makes no progress. @returns whether the network itself has stopped */
  check({ readMs, idleMs, writeMs }: ProgressTimes): boolean {
    if (this.isOver) return false
    this.begun()
    const { sender, streams, nowMs } = this
    sender.outbox.trim()
    if (sender.isBlocked) return nowMs - sender.progressMs >= writeMs
    for (const stream of streams.all()) {
      const isSlow = stream.isSending
        ? nowMs - stream.progressMs >= writeMs
        : isReading(stream) && nowMs - stream.beganMs >= readMs
      if (isSlow) streams.abort(stream.id, ERROR_CODE.CANCEL)
    }
    const restMs = streams.lastId === 0 ? readMs : idleMs
    const isIdle = streams.count === 0 && nowMs - streams.changedMs >= restMs
    if (isIdle || nowMs - this.partSinceMs >= readMs) this.shutDown(NO_ERROR)
    return false
  }

  /** Says goodbye and why (§6.8), and ends the connection with all its streams. */
  shutDown(code: number): void {
    if (this.isOver) return
    this.sender.outbox.goAway(this.streams.lastId, code)
    this.sender.end()
    this.closed()
  }

  /** The connection is gone, and with it all streams. */
  closed(): void {
    this.isOver = true
    for (const stream of this.streams.all()) this.streams.breakOff(stream.id)
  }

  /** Reads frames as long as there are any, and the client takes what it is sent. */
  private proceed(): void {
    this.nowMs = this.options.now()
    const { reader, sender } = this
    this.isReading = true
    for (let count = 0; !this.isOver && !sender.isBlocked; count++) {
      if (count === FRAMES_PER_TURN) {
        this.yieldTurn()
        break
      }
      const next = reader.next()
      if (next === 'more') break
      const code = next === 'frame' ? this.take(reader) : next
      if (code === NO_ERROR) sender.flushWhenFull()
      else this.shutDown(code)
    }
    this.isReading = false
    if (this.isOver) return
    sender.flush()
    const isPart = !this.isBlocked && (reader.isInside || this.requests.isInBlock)
    if (!isPart) this.partSinceMs = Number.POSITIVE_INFINITY
    else if (this.partSinceMs > this.nowMs) this.partSinceMs = this.nowMs
  }

  private yieldTurn(): void {
    this.isYielding = true
    this.options.yieldTurn(() => {
      this.isYielding = false
      if (!this.isOver) this.proceed()
    })
  }

  /** Takes a frame. @returns the connection error that it is, or 0 */
  private take(frame: FrameReader): number {
    const { type, flags } = frame
    if (!this.hasSettings) {
      // The client's settings come first (§3.4).
      if (type !== FRAME.SETTINGS || (flags & FLAG.ACK) !== 0) return PROTOCOL_ERROR
      this.hasSettings = true
    }
    if (this.requests.isInBlock && type !== FRAME.CONTINUATION) return PROTOCOL_ERROR
    switch (type) {
      case FRAME.HEADERS:
        return this.requests.takeHeaders(frame)
      case FRAME.CONTINUATION:
        return this.requests.takeContinuation(frame)
      case FRAME.DATA:
        return this.requests.takeData(frame)
      default:
        return this.control.take(frame)
    }
  }

  /** Something is sent: it is written with what else is, unless frames are being read just now. */
  private begun(): void {
    if (this.isReading || this.isOver) return
    this.nowMs = this.options.now()
    if (this.isFlushDue) return
    this.isFlushDue = true
    this.options.defer(() => {
      this.isFlushDue = false
      if (!this.isOver) this.sender.flush()
    })
  }
}

/** Whether a status ends a request other than with an error (RFC 9110 §15). */
function isGood(status: number): boolean {
  return 200 <= status && status < 400
}

/** Whether a stream waits for the client to send more of its body. */
function isReading(stream: Stream): boolean {
  return !stream.isRemoteClosed && stream.receiveWindow.isOpen
}
