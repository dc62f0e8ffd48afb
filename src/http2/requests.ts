/**
 * Requests as they come: their heads, bodies and trailers (RFC 9113 §6.1, §6.2, §8.1).
 * @module
 */
import { byteAt } from '../bytes/bytes.ts'
import { STREAMS_MAX } from './bounds.ts'
import { type ControlFrames, dependsOn } from './control-frames.ts'
import { ERROR_CODE, FLAG } from './frame.ts'
import type { FrameReader } from './frame-reader.ts'
import { type BlockResult, type HeaderBlock, HeaderBlocks } from './header-blocks.ts'
import type { HeaderList, Latin1 } from './header-decoder.ts'
import { isTrailers, type RequestHead, RequestHeads } from './request-head.ts'
import { Stream, type StreamReceiver } from './stream.ts'
import type { Streams } from './streams.ts'

const { NO_ERROR, PROTOCOL_ERROR, STREAM_CLOSED } = ERROR_CODE

/** Bytes of a priority in HEADERS (§6.2). */
const PRIORITY_BYTES = 5

/**
 * Takes a request by its head. It is `whole` when it has no body; else its body comes to the
 * receiver, or to nobody.
 */
export type RequestHandler = (
  id: number,
  head: RequestHead,
  isWhole: boolean,
) => StreamReceiver | undefined

/** What requests need of their connection. */
export type RequestsOptions = {
  readonly streams: Streams
  readonly control: ControlFrames
  readonly latin1: Latin1
  readonly now: () => number
  readonly onRequest: RequestHandler
  /** A stream's head was larger than is taken: it is answered with 431 (RFC 6585 §5). */
  readonly onTooLarge: (id: number) => void
}

/** Takes the frames of requests. Each returns the connection error that it is, or 0. */
export class Requests {
  private readonly options: RequestsOptions
  private readonly blocks: HeaderBlocks
  private readonly heads = new RequestHeads()
  /** The payload at hand without its padding. */
  private start = 0
  private end = 0

  constructor(options: RequestsOptions) {
    this.options = options
    this.blocks = new HeaderBlocks(options.latin1)
  }

  /** Whether a header block is begun, and no other frame may come (§4.3). */
  get isInBlock(): boolean {
    return this.blocks.isOpen
  }

  /** Takes HEADERS. */
  takeHeaders(frame: FrameReader): number {
    const { bytes, streamId, flags } = frame
    if (streamId % 2 === 0 || !this.unpad(frame)) return PROTOCOL_ERROR
    if ((flags & FLAG.PRIORITY) !== 0) {
      if (this.end - this.start < PRIORITY_BYTES) return ERROR_CODE.FRAME_SIZE_ERROR
      if (dependsOn(bytes, this.start, streamId)) return PROTOCOL_ERROR
      this.start += PRIORITY_BYTES
    }
    const { start, end } = this
    return this.takeBlock(this.blocks.begin(streamId, flags, { bytes, start, end }))
  }

  /** Takes CONTINUATION, which goes on with a block that is begun. */
  takeContinuation({ bytes, start, end, streamId, flags }: FrameReader): number {
    if (!this.blocks.continues(streamId)) return PROTOCOL_ERROR
    return this.takeBlock(this.blocks.continue(flags, { bytes, start, end }))
  }

  /** Takes DATA. */
  takeData(frame: FrameReader): number {
    const { streams } = this.options
    const { streamId } = frame
    const size = frame.end - frame.start
    if (streamId === 0 || streamId > streams.lastId) return PROTOCOL_ERROR
    if (!streams.window.take(size)) return ERROR_CODE.FLOW_CONTROL_ERROR
    if (!this.unpad(frame)) return PROTOCOL_ERROR
    const stream = streams.find(streamId)
    if (stream === undefined) {
      streams.credit(size)
      return streams.wasReset(streamId) ? NO_ERROR : STREAM_CLOSED
    }
    stream.unread += size
    const code = this.judgeData(stream, size)
    if (code !== NO_ERROR) return streams.fail(streamId, code)
    streams.consume(stream, size - (this.end - this.start))
    return this.deliver(stream, frame)
  }

  /** Whether a stream may have this DATA. @returns the stream error that it is, or 0 */
  private judgeData(stream: Stream, size: number): number {
    if (stream.isRemoteClosed) return STREAM_CLOSED
    if (!stream.receiveWindow.take(size)) return ERROR_CODE.FLOW_CONTROL_ERROR
    if (stream.bodyLeft < 0) return NO_ERROR
    const left = stream.bodyLeft - (this.end - this.start)
    if (left < 0) return PROTOCOL_ERROR
    stream.bodyLeft = left
    return NO_ERROR
  }

  private deliver(stream: Stream, { bytes, flags, streamId }: FrameReader): number {
    const { streams, control, now } = this.options
    const { start, end } = this
    const isEnd = (flags & FLAG.END_STREAM) !== 0
    if (start === end && !isEnd) return control.countIdle()
    stream.progressMs = now()
    if (start < end && stream.receiver === undefined) streams.consume(stream, end - start)
    else if (start < end) stream.receiver?.data(bytes.subarray(start, end))
    // The receiver may have ended the stream.
    return isEnd && streams.find(streamId) === stream ? this.endRequest(stream) : NO_ERROR
  }

  private takeBlock(result: BlockResult): number {
    if (typeof result === 'number') return result
    if (result === undefined) return NO_ERROR
    const { streams } = this.options
    const { streamId, list, flags } = result
    const stream = streams.find(streamId)
    if (stream !== undefined) return this.takeTrailers(stream, list, flags)
    if (streamId > streams.lastId) return this.begin(result)
    if (streams.wasReset(streamId)) return NO_ERROR
    // One of those that were skipped can be begun no more (§5.1.1); the last was closed.
    return streamId === streams.lastId ? STREAM_CLOSED : PROTOCOL_ERROR
  }

  private takeTrailers(stream: Stream, list: HeaderList, flags: number): number {
    const { streams } = this.options
    if (stream.isRemoteClosed) return streams.fail(stream.id, STREAM_CLOSED)
    const isEnd = (flags & FLAG.END_STREAM) !== 0
    if (!isEnd || !isTrailers(list)) return streams.fail(stream.id, PROTOCOL_ERROR)
    return this.endRequest(stream)
  }

  private begin({ streamId, list, flags }: HeaderBlock): number {
    const { streams, control, now, onTooLarge } = this.options
    streams.lastId = streamId
    if (streams.count >= STREAMS_MAX) return streams.fail(streamId, ERROR_CODE.REFUSED_STREAM)
    const head = list.isTooLarge ? undefined : this.heads.read(list)
    const isWhole = (flags & FLAG.END_STREAM) !== 0
    const isMalformed = head === undefined || (isWhole && head.contentLength > 0)
    if (!list.isTooLarge && isMalformed) return streams.fail(streamId, PROTOCOL_ERROR)
    const stream = new Stream({
      id: streamId,
      sendWindow: control.settings.initialWindowSize,
      contentLength: head === undefined ? -1 : head.contentLength,
      nowMs: now(),
    })
    stream.isRemoteClosed = isWhole
    stream.isBodyIgnored = head?.method === 'GET' || head?.method === 'HEAD'
    streams.add(stream)
    if (head === undefined) onTooLarge(streamId)
    else this.take(stream, head, isWhole)
    return NO_ERROR
  }

  private take(stream: Stream, head: RequestHead, isWhole: boolean): void {
    const receiver = this.options.onRequest(stream.id, head, isWhole)
    // It may be answered already.
    if (!stream.isAnswered) stream.receiver = receiver
  }

  private endRequest(stream: Stream): number {
    if (stream.bodyLeft > 0) return this.options.streams.fail(stream.id, PROTOCOL_ERROR)
    stream.isRemoteClosed = true
    if (stream.isAnswered) this.options.streams.close(stream)
    else stream.receiver?.end()
    return NO_ERROR
  }

  /** Finds the payload without its padding (§6.1). @returns whether there is no more of that */
  private unpad({ bytes, start, end, flags }: FrameReader): boolean {
    this.start = start
    this.end = end
    if ((flags & FLAG.PADDED) === 0) return true
    if (start === end) return false
    this.start = start + 1
    this.end = end - byteAt(bytes, start)
    return this.start <= this.end
  }
}
