/**
 * One HTTP/2 connection over `node:http2`. Answers common requests on the raw streams and passes
 * all others to the app.
 * @module
 */
import {
  constants,
  Http2ServerRequest,
  Http2ServerResponse,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { EMPTY } from '../../dns/bytes/bytes.ts'
import { clientNetwork } from '../../dns/names/network.ts'
import type { FairQueue } from '../sockets/fair-queue.ts'
import {
  type Answer,
  DIRECT_BODY_BYTES_MAX,
  type Direct,
  type Ends,
  endsOf,
  type Head,
  hasValidHost,
  identitiesOfSocket,
  type Ready,
  serverNameOfSocket,
  unmapped,
} from './http-request.ts'
import { type OpenStream, OpenStreams } from './open-streams.ts'
import type { RequestHolder, RequestMemory } from './request-memory.ts'
import { ResponseFields } from './response-fields.ts'
import type { PhaseTimes, SelfBounded } from './served-socket.ts'

/** Bytes of unfinished bodies that a connection buffers, without those that the app reads. */
const HELD_BYTES_MAX = 1_048_576

/** Memory of a stream besides its bodies: 4.7 KiB on Node 26, and garbage of those before it. */
const STREAM_BYTES = 8192

/** Bytes of names and values plus 32 per field: fits a GET with a message of 48 KiB. */
const HEADER_LIST_BYTES_MAX = 65_536
/** Fields of a request, pseudo-header fields included. */
const FIELDS_MAX = 128

/**
 * Bounds of each connection that nghttp2 enforces; it closes one that exceeds them. It resets
 * streams with too large headers, so its bounds leave room for requests that are answered with 431.
 */
const SESSION_OPTIONS = {
  /** Megabytes of streams and of unread responses. */
  maxSessionMemory: 4,
  maxHeaderListPairs: 2 * FIELDS_MAX,
  /** Invalid frames and empty DATA frames. */
  maxSessionInvalidFrames: 100,
  /** Requests beyond `maxConcurrentStreams`: a client that has received our SETTINGS sends none. */
  maxSessionRejectedStreams: 100,
  /** Streams that the client may reset: a burst, then a rate per second (CVE-2023-44487). */
  streamResetBurst: 200,
  streamResetRate: 33,
  /** Off: it checks each field of our own responses. */
  strictSingleValueFields: false,
  settings: {
    maxConcurrentStreams: 100,
    maxHeaderListSize: 2 * HEADER_LIST_BYTES_MAX,
    enablePush: false,
  },
}

/** The last stream of a GOAWAY that refuses none yet (RFC 9113 §6.8). */
const STREAM_ID_MAX = 2 ** 31 - 1

/** Shared by all connections. */
const FIELDS = new ResponseFields()

/** How to answer the requests of a connection. */
export type Http2Service = {
  /** Answers the requests that `direct` does not accept. */
  readonly listener: (request: Http2ServerRequest, response: Http2ServerResponse) => unknown
  readonly direct: Direct | undefined
  readonly queue: FairQueue
  /** Bounds the requests of all connections that wait for their clients. */
  readonly requestMemory: RequestMemory
  /** Returns milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Whether clients are asked to go elsewhere; never when left out. */
  readonly isLeaving?: () => boolean
}

/** The header fields of a request, as an object and as sent. */
type Fields = { readonly headers: IncomingHttpHeaders; readonly rawHeaders: readonly string[] }

/** Serves one TLS socket. */
export class Http2Connection implements SelfBounded, RequestHolder {
  private readonly socket: TLSSocket
  private readonly service: Http2Service
  private readonly session: ServerHttp2Session
  private readonly network: string
  private readonly open = new OpenStreams<ServerHttp2Stream>()
  /** When a stream opened, or a check found that the last one has closed. */
  private changedMs: number
  private wasOpen = false
  private hasRequested = false
  private hasLeft = false
  /** Whether a request was answered with a status below 400. */
  hasServed = false

  constructor(socket: TLSSocket, service: Http2Service) {
    this.socket = socket
    this.service = service
    this.network = clientNetwork(socket.remoteAddress ?? '')
    this.changedMs = service.now()
    this.session = performServerHandshake(socket, SESSION_OPTIONS)
    // The session destroys itself and its socket.
    this.session.on('error', ignore)
    service.requestMemory.add(this)
    this.session.on('close', () => service.requestMemory.delete(this))
    this.session.on('stream', (stream, headers, _, rawHeaders) => {
      this.take(stream, { headers, rawHeaders })
    })
  }

  /** Since when no complete request waits for its response; `Infinity` while one does. */
  get idleSinceMs(): number {
    for (const { stream } of this.open.all()) {
      if (isComplete(stream) && !stream.headersSent) return Number.POSITIVE_INFINITY
    }
    return this.changedMs
  }

  /** Ends slow bodies, unread responses and idle connections. */
  check(nowMs: number, { readMs, idleMs, writeMs }: PhaseTimes): void {
    const open = this.open.all()
    for (const { stream, startMs } of open) {
      if (nowMs - startMs >= writeMs) {
        this.close()
        return
      }
      if (nowMs - startMs >= readMs && !isComplete(stream)) stream.close(constants.NGHTTP2_CANCEL)
    }
    const isOpen = open.length > 0
    if (this.wasOpen && !isOpen) this.changedMs = nowMs
    this.wasOpen = isOpen
    const pauseMs = this.hasServed ? idleMs : readMs
    if (isOpen || nowMs - this.changedMs < pauseMs) return
    // The client has had one check interval to close the connection after GOAWAY.
    if (this.session.closed) this.socket.destroy()
    else this.session.close()
  }

  heldBytes(): number {
    return this.open.all().reduce((sum, one) => sum + one.memoryBytes, 0)
  }

  /** Ends the requests that wait for their client; if it has had no response, the connection. */
  dropRequests(): void {
    if (!this.hasServed) {
      this.close()
      return
    }
    for (const { stream, memoryBytes } of this.open.all()) {
      if (memoryBytes > 0) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    }
  }

  /**
   * Sends a GOAWAY that refuses no stream, so that none is lost which is on its way. A client
   * without a request so far gets it with the first one, instead of another connection to try.
   */
  leave(): void {
    if (this.hasLeft || !this.hasRequested || this.session.destroyed) return
    this.hasLeft = true
    this.session.goaway(constants.NGHTTP2_NO_ERROR, STREAM_ID_MAX)
  }

  /** Refuses new streams, and closes the connection when the open ones have ended. */
  finish(): void {
    if (this.hasRequested && !this.session.closed) this.session.close()
  }

  /** Closes the connection and all its streams at once. */
  close(): void {
    this.session.destroy()
  }

  private take(stream: ServerHttp2Stream, fields: Fields): void {
    const { queue, now, isLeaving } = this.service
    this.changedMs = now()
    this.hasRequested = true
    if (isLeaving?.() === true) this.leave()
    const open = this.open.add(stream, this.changedMs)
    this.hold(open, STREAM_BYTES)
    // A stream emits an error when the client resets it.
    stream.on('error', ignore)
    queue.run(this.network, () => {
      if (!stream.destroyed) this.serve(open, fields)
    })
  }

  private hold(open: OpenStream<ServerHttp2Stream>, bytes: number): void {
    open.memoryBytes += bytes
    this.service.requestMemory.held(bytes)
  }

  private serve(open: OpenStream<ServerHttp2Stream>, fields: Fields): void {
    const { stream } = open
    if (isTooLarge(fields.rawHeaders)) {
      stream.respond({ ':status': 431 }, { endStream: true })
      return
    }
    if (!hasValidHost(fields.rawHeaders)) {
      stream.respond({ ':status': 400 }, { endStream: true })
      return
    }
    const answer = this.service.direct?.(new StreamHead(fields, this.socket))
    if (answer === undefined) {
      this.serveByApp(open, fields)
      return
    }
    const { ':method': method, expect } = fields.headers
    // The body of a GET has no meaning (RFC 9110 §9.3.1).
    if (method !== 'POST') {
      this.answer(open, answer)
      return
    }
    if (expect === '100-continue') stream.additionalHeaders({ ':status': 100 })
    this.collect(open, answer, Number(fields.headers['content-length']))
  }

  private serveByApp(open: OpenStream<ServerHttp2Stream>, fields: Fields): void {
    const { stream } = open
    const { headers, rawHeaders } = fields
    const request = new Http2ServerRequest(stream, headers, {}, rawHeaders)
    const response = new Http2ServerResponse(stream)
    if (headers.expect === '100-continue') response.writeContinue()
    response.once('finish', () => {
      this.responded(response.statusCode)
      // The app has answered without the body, which it does not wait for: a wrong token.
      if (!isComplete(stream)) stream.close(constants.NGHTTP2_NO_ERROR)
    })
    if (isComplete(stream)) open.memoryBytes = 0
    else {
      const length = Number(headers['content-length'])
      this.hold(open, length < DIRECT_BODY_BYTES_MAX ? length : DIRECT_BODY_BYTES_MAX)
      request.once('end', () => {
        open.memoryBytes = 0
      })
    }
    this.service.listener(request, response)
  }

  /**
   * Answers once the body has the length of its Content-Length, otherwise at its end, which Node
   * reports 5 µs later. nghttp2 rejects a body of another length.
   */
  private collect(open: OpenStream<ServerHttp2Stream>, answer: Answer, length: number): void {
    const { stream } = open
    const chunks: Buffer[] = []
    const finish = (): void => {
      open.heldBytes = 0
      if (stream.closed) return
      const [only = EMPTY] = chunks
      this.answer(open, answer, chunks.length < 2 ? only : Buffer.concat(chunks))
    }
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      open.heldBytes += chunk.length
      if (this.isTooMuch(open.heldBytes)) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
      else if (open.heldBytes === length) finish()
      else this.hold(open, chunk.length)
    })
    // Listening costs 1 µs.
    if (!(length > 0)) stream.on('end', finish)
  }

  private isTooMuch(size: number): boolean {
    return size > DIRECT_BODY_BYTES_MAX || this.open.heldBytes() > HELD_BYTES_MAX
  }

  private answer(open: OpenStream<ServerHttp2Stream>, answer: Answer, body?: Uint8Array): void {
    const { stream } = open
    open.memoryBytes = 0
    try {
      const ready = answer(body)
      if (!(ready instanceof Promise)) this.respond(open, ready)
      else ready.then((one) => this.respond(open, one)).catch(() => fail(stream))
    } catch {
      fail(stream)
    }
  }

  private respond(open: OpenStream<ServerHttp2Stream>, { status, headers, body }: Ready): void {
    const { stream } = open
    if (stream.closed) return
    this.hold(open, STREAM_BYTES + (body?.length ?? 0))
    stream.respond(FIELDS.of(status, headers))
    stream.end(body)
    this.responded(status)
  }

  private responded(status: number): void {
    if (status < 400) this.hasServed = true
  }
}

/** A request's head for `direct`. */
class StreamHead implements Head {
  readonly method: string
  readonly path: string
  private readonly rawHeaders: readonly string[]
  private readonly socket: TLSSocket

  constructor({ headers, rawHeaders }: Fields, socket: TLSSocket) {
    this.method = headers[':method'] ?? ''
    this.path = headers[':path'] ?? ''
    this.rawHeaders = rawHeaders
    this.socket = socket
  }

  get address(): string {
    return unmapped(this.socket.remoteAddress ?? '')
  }

  /** Joins fields with the same name, as the app sees them; `node:http2` drops some duplicates. */
  header(name: string): string | undefined {
    const { rawHeaders } = this
    let found: string | undefined
    for (let i = 0; i < rawHeaders.length; i += 2) {
      if (rawHeaders[i] !== name) continue
      const value = rawHeaders[i + 1] ?? ''
      found = found === undefined ? value : `${found}, ${value}`
    }
    // RFC 9113 §8.3.1: HTTP/2 has the host in a pseudo-header.
    return found === undefined && name === 'host' ? this.header(':authority') : found
  }

  identities(): readonly string[] {
    return identitiesOfSocket(this.socket)
  }

  serverName(): string | undefined {
    return serverNameOfSocket(this.socket)
  }

  ends(): Ends {
    return endsOf(this.socket)
  }
}

/** Whether a request's header list (RFC 9113 §10.5.1) exceeds our bounds. */
function isTooLarge(rawHeaders: readonly string[]): boolean {
  const { length } = rawHeaders
  if (length > 2 * FIELDS_MAX) return true
  let size = 16 * length
  for (let i = 0; i < length; i++) size += rawHeaders[i]?.length ?? 0
  return size > HEADER_LIST_BYTES_MAX
}

function isComplete(stream: ServerHttp2Stream): boolean {
  return stream.endAfterHeaders || stream.readableEnded
}

function fail(stream: ServerHttp2Stream): void {
  stream.close(constants.NGHTTP2_INTERNAL_ERROR)
}

function ignore(): void {}
