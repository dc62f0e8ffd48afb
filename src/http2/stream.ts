/**
 * A request and its response on their connection (RFC 9113 §5.1).
 * @module
 */
import { EMPTY } from '../bytes/bytes.ts'
import { ReceiveWindow } from './receive-window.ts'

/** Takes what comes of a stream after its head. */
export type StreamReceiver = {
  /** Bytes of the body, which stay as they are; the receiver tells when it has consumed them. */
  readonly data: (octets: Uint8Array) => void
  /** The body is whole. */
  readonly end: () => void
  /** The stream is over before its time, for whatever reason. */
  readonly reset: () => void
  /** What was given of the response's body is written, and there may be more. */
  readonly writable: () => void
}

/** How to begin a stream. */
export type StreamOptions = {
  readonly id: number
  readonly sendWindow: number
  /** Bytes of the body when its length is known, else -1. */
  readonly contentLength: number
  readonly nowMs: number
}

/** One stream that is not closed. */
export class Stream {
  readonly id: number
  readonly beganMs: number
  receiver: StreamReceiver | undefined
  /** What it may still send; the client's settings can make it negative (RFC 9113 §6.9.2). */
  sendWindow: number
  /** Bytes that the receiver has and did not consume yet. */
  unread = 0
  /** What is still to come of a body whose length is known, else -1. */
  bodyLeft: number
  /** Whether a body means nothing to the method: the response does not wait for it. */
  isBodyIgnored = false
  /** Whether the response is written, and only the rest of such a body is still to come. */
  isAnswered = false
  /** Whether the request is whole. */
  isRemoteClosed = false
  /** The part of the response's body that is on its way, and where the rest of it begins. */
  body: Uint8Array = EMPTY
  bodyAt = 0
  isLastPart = false
  /** When something of it was last sent or received. */
  progressMs: number
  private window: ReceiveWindow | undefined

  constructor({ id, sendWindow, contentLength, nowMs }: StreamOptions) {
    this.id = id
    this.sendWindow = sendWindow
    this.bodyLeft = contentLength
    this.beganMs = nowMs
    this.progressMs = nowMs
  }

  /** What the client may still send; most send nothing. */
  get receiveWindow(): ReceiveWindow {
    this.window ??= new ReceiveWindow()
    return this.window
  }

  /** Whether a part of the response's body is on its way. */
  get isSending(): boolean {
    if (this.isAnswered) return false
    return this.isLastPart || this.bodyAt < this.body.length
  }
}
