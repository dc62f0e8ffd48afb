/**
 * Attacks on servers of DNS over gRPC, each run by `attacker.ts`: calls that are too long, cut,
 * reset, or whose responses nobody reads.
 * @module
 */
import { GRPC_PATH, GRPC_TYPE, writeGrpcMessage } from '../../src/dns/wire/grpc-message.ts'
import { type Attack, flood, type Tally } from './http-attacks.ts'
import { block, type Field, FLAG, FRAME, frame, preface, uint32 } from './http2-wire.ts'
import { query } from './wire.ts'

/** An attack by calls. */
export type GrpcAttack = Attack & {
  /** Names of `CALLS`; each connection takes the next one. */
  readonly kinds: readonly string[]
  /** A name with addresses. */
  readonly name: string
}

const { END_STREAM, END_HEADERS } = FLAG
const CALLS_EACH = 10
/** Calls on each connection that takes no responses, or does not end its calls. */
const OPEN_CALLS = 200
/** The longest payload of a frame unless SETTINGS allow more (RFC 9113 §4.2). */
const FRAME_BYTES = 16_384
const CANCEL = 8

type Call = {
  /** SETTINGS_INITIAL_WINDOW_SIZE: bytes of each response that the client takes. */
  readonly window: number
  /** Whether the client reads what arrives. */
  readonly reads: boolean
  /** Calls on one connection; any number if absent. */
  readonly callsMax?: number
  readonly frames: (id: number, body: Buffer) => readonly Buffer[]
}

const headers = (id: number, fields: readonly Field[] = []): Buffer =>
  frame(FRAME.HEADERS, END_HEADERS, id, block([...CALL_FIELDS, ...fields]))
const data = (id: number, body: Uint8Array, flags: number = END_STREAM): Buffer =>
  frame(FRAME.DATA, flags, id, body)
const whole = (id: number, body: Buffer): Buffer[] => [headers(id), data(id, body)]
const reset = (id: number): Buffer => frame(FRAME.RST_STREAM, 0, id, uint32(CANCEL))
const more = (id: number): Buffer => frame(FRAME.WINDOW_UPDATE, 0, id, uint32(1))

const CALL_FIELDS: readonly Field[] = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':authority', 'localhost'],
  [':path', GRPC_PATH],
  ['content-type', GRPC_TYPE],
  ['te', 'trailers'],
]

/** Calls by name. */
const CALLS: Readonly<Record<string, Call>> = {
  calls: { window: 65_535, reads: true, frames: whole },
  'never read': { window: 65_535, reads: false, callsMax: OPEN_CALLS, frames: whole },
  'no window': { window: 0, reads: true, callsMax: OPEN_CALLS, frames: whole },
  'a window of a few bytes, then reset': {
    window: 3,
    reads: true,
    frames: (id, body) => [...whole(id, body), more(id), reset(id)],
  },
  reset: { window: 65_535, reads: true, frames: (id, body) => [...whole(id, body), reset(id)] },
  'reset before their end': {
    window: 65_535,
    reads: true,
    frames: (id, body) => [headers(id), data(id, body, 0), reset(id)],
  },
  'without an end': {
    window: 65_535,
    reads: true,
    callsMax: OPEN_CALLS,
    frames: (id, body) => [headers(id), data(id, body.subarray(0, 20), 0)],
  },
  cut: {
    window: 65_535,
    reads: true,
    frames: (id, body) => [headers(id), data(id, body.subarray(0, 20))],
  },
  'too long by their size': {
    window: 65_535,
    reads: true,
    frames: (id) => [headers(id), data(id, Buffer.of(0, 255, 255, 255, 255), 0)],
  },
  'too long by their bytes': {
    window: 65_535,
    reads: true,
    frames: (id) => [
      headers(id),
      ...Array.from({ length: 5 }, () => data(id, Buffer.alloc(FRAME_BYTES), 0)),
    ],
  },
  compressed: {
    window: 65_535,
    reads: true,
    frames: (id, body) => [headers(id, [['grpc-encoding', 'gzip']]), data(id, body)],
  },
}

/** Floods servers with calls; reconnects whenever the server closes a connection. */
export function grpcFlood(attack: GrpcAttack): Promise<Tally> {
  const { kinds } = attack
  const body = Buffer.from(writeGrpcMessage(query({ name: attack.name })))
  return flood({ ...attack, isPlain: true }, (socket, index) => {
    const kind = kinds[index % kinds.length] ?? ''
    const call = CALLS[kind]
    if (call === undefined) throw new TypeError(`there is no call ${kind}`)
    socket.write(preface([4, call.window]))
    if (call.reads) socket.resume()
    let id = 1
    return () => {
      const frames: Buffer[] = []
      if (id > 2 * (call.callsMax ?? Infinity)) return Buffer.alloc(0)
      for (let i = 0; i < CALLS_EACH; i++, id += 2) frames.push(...call.frames(id, body))
      return Buffer.concat(frames)
    }
  })
}
