/**
 * A client of a connection, for tests: writes frames by hand, reads what is written back, and has a
 * clock of its own.
 * @module
 */
import { EMPTY } from '../../src/bytes/bytes.ts'
import { Connection } from '../../src/http2/connection.ts'
import { CLIENT_PREFACE, ERROR_CODE, FLAG, FRAME } from '../../src/http2/frame.ts'
import { HeaderDecoder } from '../../src/http2/header-decoder.ts'
import type { RequestHead } from '../../src/http2/request-head.ts'
import type { StreamReceiver } from '../../src/http2/stream.ts'
import { type Field, literals } from './hpack-encoder.ts'

/** A frame as it was written. */
export type Frame = {
  readonly type: number
  readonly flags: number
  readonly id: number
  readonly payload: Uint8Array
}

/** Text of bytes. */
export const latin1 = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.subarray(start, end)).toString('latin1')

/** The fields of an ordinary request. */
export const GET: readonly Field[] = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', 'a.example'],
  [':path', '/'],
]
/** Those of one with a body. */
export const POST: readonly Field[] = [[':method', 'POST'], ...GET.slice(1)]

/** Writes a frame. */
export function frame(
  type: number,
  flags: number,
  id: number,
  payload: Uint8Array | readonly number[] = EMPTY,
): Uint8Array {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(id, 5)
  return new Uint8Array(Buffer.concat([head, Uint8Array.from(payload)]))
}

/** Writes a number of 32 bits. */
export function number(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]
}

/** HEADERS with a whole block of literals; END_STREAM unless told otherwise. */
export function headers(id: number, fields: readonly Field[] = GET, isEnd = true): Uint8Array {
  return frame(
    FRAME.HEADERS,
    FLAG.END_HEADERS | (isEnd ? FLAG.END_STREAM : 0),
    id,
    literals(fields),
  )
}

/** DATA. */
export function data(
  id: number,
  octets: Uint8Array | readonly number[],
  isEnd = false,
): Uint8Array {
  return frame(FRAME.DATA, isEnd ? FLAG.END_STREAM : 0, id, octets)
}

/** SETTINGS with pairs of identifier and value. */
export function settings(...pairs: readonly (readonly [number, number])[]): Uint8Array {
  const payload = pairs.flatMap(([id, value]) => [id >>> 8, id & 255, ...number(value)])
  return frame(FRAME.SETTINGS, 0, 0, payload)
}

/** WINDOW_UPDATE. */
export function windowUpdate(id: number, increment: number): Uint8Array {
  return frame(FRAME.WINDOW_UPDATE, 0, id, number(increment))
}

/** RST_STREAM. */
export function reset(id: number, code: number = ERROR_CODE.CANCEL): Uint8Array {
  return frame(FRAME.RST_STREAM, 0, id, number(code))
}

/** What begins each connection. */
export const BEGINNING: Uint8Array = Buffer.concat([
  Buffer.from(CLIENT_PREFACE, 'latin1'),
  settings(),
])

/** Cuts bytes into frames. */
export function framesOf(octets: Uint8Array): Frame[] {
  const bytes = Buffer.from(octets)
  const frames: Frame[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = bytes.readUIntBE(at, 3)
    const [type, flags] = [bytes.readUInt8(at + 3), bytes.readUInt8(at + 4)]
    const id = bytes.readUInt32BE(at + 5)
    frames.push({ type, flags, id, payload: new Uint8Array(bytes.subarray(at + 9, at + 9 + size)) })
    at += 9 + size
  }
  return frames
}

/** A request that came. */
export type Seen = {
  readonly id: number
  readonly head: RequestHead
  readonly isWhole: boolean
  readonly chunks: Uint8Array[]
  /** What the receiver heard: `end`, `reset`, `writable`. */
  readonly heard: string[]
}

/** How a test's connection answers. */
export type PeerOptions = {
  /** Called with each request; answers it or not. */
  readonly onRequest?: (peer: Peer, seen: Seen) => void
  /** Whether bodies are consumed as they come; they are when left out. */
  readonly isConsuming?: boolean
  /** Whether the preface is not sent at once. */
  readonly isSilent?: boolean
}

/** A response to a request. */
export type SeenResponse = { readonly fields: readonly Field[]; readonly body: string }

/** A client and the connection that it talks to. */
export class Peer {
  readonly connection: Connection
  readonly requests: Seen[] = []
  /** Whether the network takes more; when not, `drain` says so. */
  isWritable = true
  isEnded = false
  nowMs = 1_000_000
  wallMs = 2_000_000
  writes = 0
  private written: Uint8Array[] = []
  /** What goes on after other connections have had their turn. */
  private readonly turns: (() => void)[] = []
  private readonly deferred: (() => void)[] = []
  private readonly decoder = new HeaderDecoder(latin1)

  constructor(options: PeerOptions = {}) {
    const { onRequest, isConsuming = true, isSilent = false } = options
    this.connection = new Connection({
      sink: {
        write: (octets) => {
          this.writes++
          this.written.push(Uint8Array.from(octets))
          return this.isWritable
        },
        end: () => {
          this.isEnded = true
        },
      },
      onRequest: (id, head, isWhole) => {
        const seen: Seen = { id, head, isWhole, chunks: [], heard: [] }
        this.requests.push(seen)
        onRequest?.(this, seen)
        return this.receiver(seen, isConsuming)
      },
      latin1,
      now: () => this.nowMs,
      wallNow: () => this.wallMs,
      defer: (run) => this.deferred.push(run),
      yieldTurn: (run) => this.turns.push(run),
    })
    if (isSilent) return
    this.send(BEGINNING)
    this.take()
  }

  /** Sends frames in one chunk. */
  send(...frames: readonly Uint8Array[]): void {
    this.sendForOneTurn(...frames)
    this.takeTurns()
  }

  /** Lets the connection go on until it has read all. */
  takeTurns(): void {
    for (let run = this.turns.shift(); run; run = this.turns.shift()) run()
  }

  /** The same, and no turn comes after the first. */
  sendForOneTurn(...frames: readonly Uint8Array[]): void {
    this.connection.receive(new Uint8Array(Buffer.concat(frames)))
  }

  /** Has happen what was put off. */
  settle(): void {
    for (const run of this.deferred.splice(0)) run()
  }

  /** Takes what was written since. */
  take(): Frame[] {
    this.settle()
    return framesOf(Buffer.concat(this.written.splice(0)))
  }

  /** The network takes bytes again. */
  drain(): void {
    this.isWritable = true
    this.connection.drained()
  }

  /** Lets time go by and has the connection look for what makes no progress. */
  wait(ms: number, times = { readMs: 1000, idleMs: 2000, writeMs: 3000 }): boolean {
    this.nowMs += ms
    return this.connection.check(times)
  }

  /** The code of the GOAWAY among frames; `undefined` when there is none. */
  goneAway(frames: readonly Frame[] = this.take()): number | undefined {
    const found = frames.find(({ type }) => type === FRAME.GOAWAY)
    return found && Buffer.from(found.payload).readUInt32BE(4)
  }

  /** The code of the RST_STREAM of a stream among frames; `undefined` when there is none. */
  wasReset(id: number, frames: readonly Frame[] = this.take()): number | undefined {
    const found = frames.find((one) => one.type === FRAME.RST_STREAM && one.id === id)
    return found && Buffer.from(found.payload).readUInt32BE(0)
  }

  /** Puts the response of a stream together; its header blocks are decoded in their order. */
  responses(frames: readonly Frame[] = this.take()): Map<number, SeenResponse> {
    const found = new Map<number, SeenResponse>()
    for (const { type, id, payload } of frames) {
      if (type === FRAME.HEADERS) {
        const list = this.decoder.decode(payload, 0, payload.length)
        const fields = list?.fields.map(({ name, value }) => [name, value] as const) ?? []
        found.set(id, { fields, body: '' })
      }
      if (type !== FRAME.DATA) continue
      const { fields = [], body = '' } = found.get(id) ?? {}
      found.set(id, { fields, body: body + latin1(payload, 0, payload.length) })
    }
    return found
  }

  private receiver({ id, chunks, heard }: Seen, isConsuming: boolean): StreamReceiver {
    return {
      data: (octets) => {
        chunks.push(octets)
        if (isConsuming) this.connection.consumed(id, octets.length)
      },
      end: () => heard.push('end'),
      reset: () => heard.push('reset'),
      writable: () => heard.push('writable'),
    }
  }
}

/** Answers each request at once with some bytes. */
export function answering(body: string): PeerOptions {
  return {
    onRequest: ({ connection }, { id }) => {
      connection.respond(id, { status: 200, headers: {}, body: new Uint8Array(Buffer.from(body)) })
    },
  }
}
