/**
 * Frames that bring neither requests nor bodies (RFC 9113 §6.3 to §6.9).
 * @module
 */
import { readInt32 } from '../bytes/bytes.ts'
import { IDLE_FRAMES, WINDOW_BYTES_MAX } from './bounds.ts'
import { ERROR_CODE, FLAG, FRAME } from './frame.ts'
import type { FrameReader } from './frame-reader.ts'
import { RateBound } from './rate-bound.ts'
import type { Sender } from './sender.ts'
import { ClientSettings } from './settings.ts'
import type { Streams } from './streams.ts'

const { NO_ERROR, PROTOCOL_ERROR, FRAME_SIZE_ERROR, FLOW_CONTROL_ERROR } = ERROR_CODE

const PING_BYTES = 8
const PRIORITY_BYTES = 5
const NUMBER_BYTES = 4
const GOAWAY_BYTES_MIN = 8

/** What these frames have to do with. */
export type ControlOptions = {
  readonly sender: Sender
  readonly streams: Streams
  readonly now: () => number
}

/** Takes these frames of one connection. Each returns the connection error that it is, or 0. */
export class ControlFrames {
  readonly settings: ClientSettings = new ClientSettings()
  private readonly sender: Sender
  private readonly streams: Streams
  private readonly now: () => number
  private readonly idleFrames: RateBound

  constructor({ sender, streams, now }: ControlOptions) {
    this.sender = sender
    this.streams = streams
    this.now = now
    this.idleFrames = new RateBound(IDLE_FRAMES, now())
  }

  /** Takes the frame at hand. */
  take(frame: FrameReader): number {
    switch (frame.type) {
      case FRAME.PRIORITY:
        return this.countIdle() || takePriority(frame)
      case FRAME.RST_STREAM:
        return this.takeReset(frame)
      case FRAME.SETTINGS:
        return this.countIdle() || this.takeSettings(frame)
      case FRAME.PING:
        return this.countIdle() || this.takePing(frame)
      case FRAME.GOAWAY:
        return this.countIdle() || takeGoAway(frame)
      case FRAME.WINDOW_UPDATE:
        return this.takeWindowUpdate(frame)
      case FRAME.PUSH_PROMISE:
        // Servers push, if anybody does (§8.4).
        return PROTOCOL_ERROR
      default:
        // What is not known is passed over (§5.5).
        return this.countIdle()
    }
  }

  /** Counts a frame that brings nothing; too many are an error. */
  countIdle(): number {
    return this.idleFrames.allows(this.now()) ? NO_ERROR : ERROR_CODE.ENHANCE_YOUR_CALM
  }

  private takeReset({ start, end, streamId }: FrameReader): number {
    if (end - start !== NUMBER_BYTES) return FRAME_SIZE_ERROR
    if (streamId === 0 || this.isIdle(streamId)) return PROTOCOL_ERROR
    this.streams.breakOff(streamId)
    return this.streams.countReset()
  }

  private takeSettings({ bytes, start, end, streamId, flags }: FrameReader): number {
    if (streamId !== 0) return PROTOCOL_ERROR
    if ((flags & FLAG.ACK) !== 0) return start === end ? NO_ERROR : FRAME_SIZE_ERROR
    const before = this.settings.initialWindowSize
    const code = this.settings.read(bytes, start, end)
    if (code !== NO_ERROR) return code
    const increment = this.settings.initialWindowSize - before
    this.sender.outbox.settingsAck()
    // All streams have the new window, which may leave some with less than nothing (§6.9.2).
    for (const stream of increment === 0 ? [] : this.streams.all()) {
      if (!this.sender.openStream(stream, increment)) return FLOW_CONTROL_ERROR
    }
    return NO_ERROR
  }

  private takePing({ bytes, start, end, streamId, flags }: FrameReader): number {
    if (streamId !== 0) return PROTOCOL_ERROR
    if (end - start !== PING_BYTES) return FRAME_SIZE_ERROR
    if ((flags & FLAG.ACK) === 0) this.sender.outbox.pingAck(bytes.subarray(start, end))
    return NO_ERROR
  }

  private takeWindowUpdate({ bytes, start, end, streamId }: FrameReader): number {
    if (end - start !== NUMBER_BYTES) return FRAME_SIZE_ERROR
    const increment = readInt32(bytes, start) & WINDOW_BYTES_MAX
    if (streamId === 0) {
      if (increment === 0) return PROTOCOL_ERROR
      return this.sender.open(increment) ? NO_ERROR : FLOW_CONTROL_ERROR
    }
    if (this.isIdle(streamId)) return PROTOCOL_ERROR
    const stream = this.streams.find(streamId)
    // It may have been on its way when the stream was closed.
    if (stream === undefined) return NO_ERROR
    if (increment === 0) return this.streams.fail(streamId, PROTOCOL_ERROR)
    if (this.sender.openStream(stream, increment)) return NO_ERROR
    return this.streams.fail(streamId, FLOW_CONTROL_ERROR)
  }

  private isIdle(streamId: number): boolean {
    return streamId > this.streams.lastId || streamId % 2 === 0
  }
}

/** Whether the priority at an offset is of a stream below itself. */
export function dependsOn(bytes: Uint8Array, offset: number, streamId: number): boolean {
  return (readInt32(bytes, offset) & WINDOW_BYTES_MAX) === streamId
}

/** Priorities are passed over; they still have their form (§6.3, RFC 7540 §5.3.1). */
function takePriority({ bytes, start, end, streamId }: FrameReader): number {
  if (streamId === 0) return PROTOCOL_ERROR
  if (end - start !== PRIORITY_BYTES) return FRAME_SIZE_ERROR
  return dependsOn(bytes, start, streamId) ? PROTOCOL_ERROR : NO_ERROR
}

/** The client will begin no more streams; those there are go on (§6.8). */
function takeGoAway({ start, end, streamId }: FrameReader): number {
  if (streamId !== 0) return PROTOCOL_ERROR
  return end - start < GOAWAY_BYTES_MIN ? FRAME_SIZE_ERROR : NO_ERROR
}
