/**
 * One HTTP/2 connection over `node:http2`. Answers common requests on the raw streams and passes
 * all others to the app.
 * @module
 */
import {
  constants,
  Http2ServerRequest,
  Http2ServerResponse,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2'
import type { Socket } from 'node:net'
import { EMPTY } from '../../dns/bytes/bytes.ts'
import { clientNetwork } from '../../dns/names/network.ts'
import type { TrustedProxies } from '../../gateway/doh/trusted-proxies.ts'
import type { FairQueue } from '../sockets/fair-queue.ts'
import {
  type Answer,
  DIRECT_BODY_BYTES_MAX,
  type Direct,
  hasValidHost,
  type Ready,
} from './http-request.ts'
import { type OpenStream, OpenStreams } from './open-streams.ts'
import type { RequestHolder, RequestMemory } from './request-memory.ts'
import { ResponseFields } from './response-fields.ts'
import type { PhaseTimes, SelfBounded } from './served-socket.ts'
import { type Fields, StreamHead } from './stream-head.ts'

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

/** A proxy passes on what each of its clients cancels. */
const PROXY_OPTIONS = { ...SESSION_OPTIONS, streamResetBurst: 2000, streamResetRate: 1000 }
const TOO_MUCH = constants.NGHTTP2_ENHANCE_YOUR_CALM
const FAILED = constants.NGHTTP2_INTERNAL_ERROR
/** Streams without another bound; the largest that Node's options take. */
const STREAMS_MAX = 2 ** 31 - 1

/** The last stream of a GOAWAY that refuses none yet (RFC 9113 §6.8). */
const STREAM_ID_MAX = 2 ** 31 - 1

/** Shared by all connections. */
const FIELDS = new ResponseFields()

/** A server of HTTP/2 alone. */
export type Http2Only = {
  /** Concurrent streams of a connection; Infinity for as many as its memory allows. */
  readonly streamsMax: number
  readonly bodyBytesMax: number
  /** The response to a longer body. */
  readonly tooLong: Ready
}

/** How to answer the requests of a connection. */
export type Http2Service = {
  /** Answers the requests that `direct` does not accept. */
  readonly listener: (request: Http2ServerRequest, response: Http2ServerResponse) => unknown
  readonly direct: Direct | undefined
  readonly queue: FairQueue
  /** Bounds the requests of all connections that wait for their clients. */
  readonly requestMemory: RequestMemory
  /** Proxies, whose connections have many clients. */
  readonly proxies?: TrustedProxies | undefined
  /** Returns milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Whether clients are asked to go elsewhere; never when left out. */
  readonly isLeaving?: () => boolean
  readonly http2Only?: Http2Only | undefined
}

/** Serves one socket. */
export class Http2Connection implements SelfBounded, RequestHolder {
  private readonly socket: Socket
  private readonly service: Http2Service
  private readonly session: ServerHttp2Session
  /** The client whose turn each request takes; `undefined` at a proxy, which names it in each. */
  private readonly client: string | undefined
  private readonly open = new OpenStreams<ServerHttp2Stream>()
  /** When a stream opened, or a check found that the last one has closed. */
  private changedMs: number
  private wasOpen = false
  private hasRequested = false
  private hasLeft = false
  /** Whether a request was answered with a status below 400. */
  hasServed = false

  constructor(socket: Socket, service: Http2Service) {
    this.socket = socket
    this.service = service
    const { remoteAddress = '' } = socket
    const isProxy = service.proxies?.has(remoteAddress) === true
    this.client = isProxy ? undefined : clientNetwork(remoteAddress)
    this.changedMs = service.now()
    this.session = performServerHandshake(socket, sessionOptions(service.http2Only, isProxy))
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
      if (nowMs - startMs >= readMs && !isComplete(stream)) {
        this.reset(stream, constants.NGHTTP2_CANCEL)
      }
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
    for (const one of this.open.all()) {
      if (one.memoryBytes > 0) this.reset(one.stream, TOO_MUCH)
      one.memoryBytes = 0
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
    queue.run(this.client ?? this.clientOf(fields), () => {
      if (!stream.destroyed) this.serve(open, fields)
    })
  }

  /** Returns the network of the client whose request a proxy passed on. */
  private clientOf(fields: Fields): string {
    const head = new StreamHead(fields, this.socket)
    return clientNetwork(this.service.proxies?.find(head.address, head)?.address ?? head.address)
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
    const { bodyBytesMax = DIRECT_BODY_BYTES_MAX, tooLong } = this.service.http2Only ?? {}
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      open.heldBytes += chunk.length
      if (open.heldBytes > bodyBytesMax && tooLong !== undefined) this.cut(open, tooLong)
      else if (this.isTooMuch(open.heldBytes, bodyBytesMax)) this.reset(stream, TOO_MUCH)
      else if (open.heldBytes === length) finish()
      else this.hold(open, chunk.length)
    })
    // Listening costs 1 µs.
    if (!(length > 0)) stream.on('end', finish)
  }

  private isTooMuch(size: number, bodyBytesMax: number): boolean {
    return size > bodyBytesMax || this.open.heldBytes() > HELD_BYTES_MAX
  }

  /** Responds before the end of a body, of which no more is read (RFC 9113 §8.1). */
  private cut(open: OpenStream<ServerHttp2Stream>, ready: Ready): void {
    const { stream } = open
    stream.removeAllListeners('data')
    stream.removeAllListeners('end')
    open.heldBytes = 0
    this.respond(open, ready)
    this.reset(stream, constants.NGHTTP2_NO_ERROR)
  }

  private answer(open: OpenStream<ServerHttp2Stream>, answer: Answer, body?: Uint8Array): void {
    const { stream } = open
    open.memoryBytes = 0
    try {
      const ready = answer(body)
      if (!(ready instanceof Promise)) this.respond(open, ready)
      else ready.then((one) => this.respond(open, one)).catch(() => this.reset(stream, FAILED))
    } catch {
      this.reset(stream, FAILED)
    }
  }

  private respond(open: OpenStream<ServerHttp2Stream>, ready: Ready): void {
    const { stream } = open
    const { status, headers, body, trailers } = ready
    if (stream.closed) return
    this.hold(open, STREAM_BYTES + (body?.length ?? 0))
    const fields = FIELDS.of(status, headers)
    if (trailers !== undefined) {
      stream.respond(fields, { waitForTrailers: true })
      stream.once('wantTrailers', () => stream.sendTrailers(trailers))
      stream.end(body)
    } else if (body.length === 0) stream.respond(fields, { endStream: true })
    else {
      stream.respond(fields)
      stream.end(body)
    }
    if (!('grpc-status' in headers)) this.responded(status)
  }

  /**
   * Resets a stream in a later turn: Node ends the process if that happens while it writes a
   * response that trailers follow (nodejs/node#41458).
   */
  private reset(stream: ServerHttp2Stream, code: number): void {
    const client = this.client ?? clientNetwork(this.socket.remoteAddress ?? '')
    setImmediate(() => this.service.queue.run(client, () => stream.close(code)))
  }

  private responded(status: number): void {
    if (status < 400) this.hasServed = true
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

function sessionOptions(http2Only: Http2Only | undefined, isProxy: boolean): ServerOptions {
  if (http2Only === undefined) return isProxy ? PROXY_OPTIONS : SESSION_OPTIONS
  const maxConcurrentStreams = Math.min(http2Only.streamsMax, STREAMS_MAX)
  return { ...SESSION_OPTIONS, settings: { ...SESSION_OPTIONS.settings, maxConcurrentStreams } }
}

function isComplete(stream: ServerHttp2Stream): boolean {
  return stream.endAfterHeaders || stream.readableEnded
}

function ignore(): void {}
