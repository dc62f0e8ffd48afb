/**
 * The way out of a connection: frames are gathered and written together; bodies wait for the
 * client's windows (RFC 9113 §5.2, §6.9) and for the network.
 * @module
 */
import {
  FRAME_BYTES_MAX,
  OUTBOX_BYTES_MAX,
  WINDOW_BYTES_DEFAULT,
  WINDOW_BYTES_MAX,
} from './bounds.ts'
import { Outbox } from './outbox.ts'
import type { Stream } from './stream.ts'

/** Where a connection's bytes go. */
export type Sink = {
  /**
   * Writes bytes, which are there only as long as the call.
   * @returns whether more may be written; else `drained` is called when it may
   */
  readonly write: (octets: Uint8Array) => boolean
  /** Ends the connection after what was written. */
  readonly end: () => void
}

/** Who learns what became of a stream's body. */
export type SenderEvents = {
  /** All of the response is written. */
  readonly onEnd: (stream: Stream) => void
  /** What was given is written, and there may be more. */
  readonly onWritable: (stream: Stream) => void
  readonly now: () => number
}

/** Sends frames and bodies. */
export class Sender {
  readonly outbox: Outbox = new Outbox()
  /** Whether the network takes nothing more for now. */
  isBlocked = false
  /** When the network last took something. */
  progressMs: number
  private readonly sink: Sink
  private readonly events: SenderEvents
  private window = WINDOW_BYTES_DEFAULT
  /** Streams that have something to send and a window for it, in the order of their turns. */
  private readonly ready = new Set<Stream>()

  constructor(sink: Sink, events: SenderEvents) {
    this.sink = sink
    this.events = events
    this.progressMs = events.now()
  }

  /** Sends a part of a stream's body when it can; the part before it is written. */
  give(stream: Stream, part: Uint8Array, isLast: boolean): void {
    stream.body = part
    stream.bodyAt = 0
    stream.isLastPart = isLast
    stream.progressMs = this.events.now()
    if (this.isBlocked || this.ready.size > 0 || this.sendFrame(stream)) this.ready.add(stream)
    if (this.ready.size > 0) this.pump()
  }

  /** Opens the connection's window. @returns whether it is within bounds (RFC 9113 §6.9.1) */
  open(increment: number): boolean {
    this.window += increment
    this.pump()
    return this.window <= WINDOW_BYTES_MAX
  }

  /** Opens, or shrinks, a stream's window. @returns whether it is within bounds */
  openStream(stream: Stream, increment: number): boolean {
    stream.sendWindow += increment
    if (stream.isSending && stream.sendWindow > 0) this.ready.add(stream)
    this.pump()
    return stream.sendWindow <= WINDOW_BYTES_MAX
  }

  /** Sends nothing more of a stream. */
  drop(stream: Stream): void {
    if (this.ready.size > 0) this.ready.delete(stream)
  }

  /** Writes what was gathered, unless the network takes nothing. */
  flush(): void {
    if (this.isBlocked) return
    this.writeAll()
  }

  /** Writes what was gathered when that is much. */
  flushWhenFull(): void {
    if (OUTBOX_BYTES_MAX <= this.outbox.size) this.flush()
  }

  /** The network takes something again. */
  drained(): void {
    this.isBlocked = false
    this.progressMs = this.events.now()
    this.pump()
    this.flush()
  }

  /** Writes what was gathered even so, and ends the connection. */
  end(): void {
    this.ready.clear()
    this.writeAll()
    this.sink.end()
  }

  /** Sends a frame of each stream in turn, as long as there is a window, and a network. */
  private pump(): void {
    for (const stream of this.ready) {
      this.flushWhenFull()
      if (this.isBlocked) return
      this.ready.delete(stream)
      if (!this.sendFrame(stream)) continue
      // Behind the others, which is where this loop comes to last.
      this.ready.add(stream)
      if (this.window <= 0) return
    }
  }

  /** Sends one frame. @returns whether there is more to send that the stream's window lets out */
  private sendFrame(stream: Stream): boolean {
    const { body, bodyAt } = stream
    const left = body.length - bodyAt
    const most = Math.min(left, FRAME_BYTES_MAX, this.window, stream.sendWindow)
    const size = Math.max(0, most)
    if (left > 0 && size === 0) return stream.sendWindow > 0
    const isEnd = stream.isLastPart && size === left
    this.outbox.data(stream.id, body, bodyAt, bodyAt + size, isEnd)
    stream.bodyAt += size
    stream.sendWindow -= size
    this.window -= size
    stream.progressMs = this.events.now()
    if (size < left) return stream.sendWindow > 0
    if (isEnd) this.events.onEnd(stream)
    else this.events.onWritable(stream)
    return false
  }

  private writeAll(): void {
    const { outbox } = this
    if (outbox.size === 0) return
    const isOpen = this.sink.write(outbox.octets())
    outbox.clear()
    if (!isOpen) {
      this.isBlocked = true
      this.progressMs = this.events.now()
    }
  }
}
