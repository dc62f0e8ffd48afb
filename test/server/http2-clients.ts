/**
 * HTTP/2 clients for tests: Node's own, and one that sends raw bytes.
 * @module
 */
import { once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientSessionOptions,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type SecureClientSessionOptions,
} from 'node:http2'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { Hono } from 'hono'
import type { TestContext } from 'vitest'
import { type HttpOptions, HttpServer } from '../../src/server/http/http-server.ts'
import { AUTHORITY, SERVER } from '../certificates.ts'

/** Starts a server over TLS for a test. @returns its port */
export async function secureServer(
  t: TestContext,
  app: Pick<Hono, 'fetch'>,
  options: HttpOptions = {},
): Promise<number> {
  const server = new HttpServer(app, { tls: { ...SERVER, clientAuth: 'nocert' }, ...options })
  t.onTestFinished(() => server.close())
  return server.listen('127.0.0.1', 0)
}

/** Opens a session that ends with its test. */
export async function openSession(
  t: TestContext,
  port: number,
  options: ClientSessionOptions | SecureClientSessionOptions = {},
): Promise<ClientHttp2Session> {
  const session = connect(`https://127.0.0.1:${port}`, { ca: AUTHORITY, ...options })
  session.on('error', () => undefined)
  t.onTestFinished(() => session.destroy())
  await once(session, 'connect')
  return session
}

/** A complete response. */
export type WholeResponse = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Sends a request and resolves with its response; rejects when the stream is reset. */
export function send(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: Uint8Array | string,
): Promise<WholeResponse> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers)
    let response: IncomingHttpHeaders = {}
    const chunks: Buffer[] = []
    stream.on('response', (got) => {
      response = got
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      const status = Number(response[':status'])
      resolve({ status, headers: response, body: Buffer.concat(chunks) })
    })
    stream.on('error', reject)
    stream.end(body)
  })
}

/** A received frame. */
export type Frame = {
  readonly type: number
  readonly flags: number
  readonly id: number
  readonly payload: Uint8Array
}

/** A connection for raw bytes. */
export type RawConnection = {
  readonly socket: TLSSocket
  readonly write: (...frames: readonly Uint8Array[]) => void
  /** Resolves with all frames when the server closes the connection. */
  readonly ended: Promise<Frame[]>
  /** Resolves when a frame of this type has arrived, on this stream if given. */
  readonly frame: (type: number, id?: number) => Promise<Frame>
}

/** Opens a connection for raw bytes. */
export async function openRaw(t: TestContext, port: number): Promise<RawConnection> {
  const options = { port, host: '127.0.0.1', ca: AUTHORITY, ALPNProtocols: ['h2'] }
  const socket = connectTls(options)
  socket.on('error', () => undefined)
  t.onTestFinished(() => void socket.destroy())
  await once(socket, 'secureConnect')
  let received: Uint8Array = new Uint8Array(0)
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
  })
  const wholeFrames = (): Frame[] => framesOf(Buffer.from(received))
  const ended = new Promise<Frame[]>((resolve) => {
    socket.on('close', () => resolve(wholeFrames()))
  })
  return {
    socket,
    write: (...frames) => socket.write(Buffer.concat(frames)),
    ended,
    frame: async (type, id) => {
      for (;;) {
        const found = wholeFrames().find((one) => one.type === type && one.id === (id ?? one.id))
        if (found !== undefined) return found
        await once(socket, 'data')
      }
    },
  }
}

/** Splits bytes into frames; drops an incomplete one at the end. */
function framesOf(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at + 9 <= bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3)
    if (end > bytes.length) break
    const [type, flags] = [bytes.readUInt8(at + 3), bytes.readUInt8(at + 4)]
    const payload = new Uint8Array(bytes.subarray(at + 9, end))
    frames.push({ type, flags, id: bytes.readUInt32BE(at + 5), payload })
    at = end
  }
  return frames
}
