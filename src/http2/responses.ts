/**
 * Responses as they go: whole ones, or heads with bodies that follow in parts (RFC 9113 §8.1).
 * @module
 */
import { EMPTY } from '../bytes/bytes.ts'
import { dateField, type ResponseFields, responseBlock, writeHeaderBlock } from './header-writer.ts'
import type { Sender } from './sender.ts'
import type { Stream } from './stream.ts'
import type { Streams } from './streams.ts'

/** A response that is at hand. */
export type WholeResponse = {
  readonly status: number
  /** Names in lower case; an object that does not change, as what is made of it is kept. */
  readonly headers: ResponseFields
  readonly body: Uint8Array
}

/** The head of a response whose body, if any, follows. */
export type ResponseHead = {
  readonly status: number
  /** Names in lower case; some may come several times. */
  readonly fields: Iterable<readonly [string, string]>
  /** Whether there is no body. */
  readonly isEnd: boolean
}

/** Statuses before the last: the head of the response itself is still to come (RFC 9110 §15.2). */
const INTERIM_MAX = 199

/** What responses need of their connection. */
export type ResponsesOptions = {
  readonly sender: Sender
  readonly streams: Streams
  /** Milliseconds since 1970. */
  readonly wallNow: () => number
}

/**
 * Sends the responses of one connection. What is for a stream that is closed is dropped: its client
 * has gone.
 */
export class Responses {
  private readonly sender: Sender
  private readonly streams: Streams
  private readonly wallNow: () => number

  constructor({ sender, streams, wallNow }: ResponsesOptions) {
    this.sender = sender
    this.streams = streams
    this.wallNow = wallNow
  }

  /** Sends a whole response. */
  respond(id: number, { status, headers, body }: WholeResponse): void {
    const stream = this.streams.find(id)
    if (stream === undefined) return
    this.sendHead(stream, responseBlock(status, headers), body.length === 0)
    if (body.length > 0) this.sender.give(stream, body, true)
  }

  /** Sends the head of a response, or of an interim one. */
  begin(id: number, { status, fields, isEnd }: ResponseHead): void {
    const stream = this.streams.find(id)
    if (stream === undefined) return
    const block = writeHeaderBlock(status, fields)
    if (status <= INTERIM_MAX) this.sender.outbox.headers(id, block, EMPTY, false)
    else this.sendHead(stream, block, isEnd)
  }

  /** Sends a part of a body; the next may come when the receiver hears `writable`. */
  write(id: number, part: Uint8Array): void {
    const stream = this.streams.find(id)
    if (stream !== undefined) this.sender.give(stream, part, false)
  }

  /** Ends a body. */
  end(id: number): void {
    const stream = this.streams.find(id)
    if (stream !== undefined) this.sender.give(stream, EMPTY, true)
  }

  private sendHead(stream: Stream, block: Uint8Array, isEnd: boolean): void {
    this.sender.outbox.headers(stream.id, block, dateField(this.wallNow()), isEnd)
    if (isEnd) this.streams.finish(stream)
  }
}
