/**
 * One connection of HTTP/2, over `node:http2`: common requests are answered from its raw streams,
 * all others by the app.
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
import { EMPTY } from '../bytes/bytes.ts'
import { clientNetwork } from '../dns/network.ts'
import {
  type Answer,
  DIRECT_BODY_BYTES_MAX,
  type Direct,
  type Ends,
  endsOf,
  type Head,
  identitiesOfSocket,
  type Ready,
} from './http-request.ts'
import type { NetworkTurns } from './network-turns.ts'
import { ResponseFields } from './response-fields.ts'
import type { PhaseTimes, SelfBounded } from './served-socket.ts'

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_INTERNAL_ERROR } = constants

/** Bytes of all unfinished bodies of one connection that the app does not read. */
const HELD_BYTES_MAX = 1_048_576

/** What nghttp2 bounds by itself, for each connection; a client that exceeds it loses it. */
const SESSION_OPTIONS = {
  /** Megabytes of streams and of responses that the client does not take. */
  maxSessionMemory: 4,
  /** Fields of a request, pseudo-header fields included. */
  maxHeaderListPairs: 128,
  /** Frames that nghttp2 refuses, and empty DATA frames. */
  maxSessionInvalidFrames: 100,
  /** Requests beyond `maxConcurrentStreams`: a client that has our settings sends none. */
  maxSessionRejectedStreams: 100,
  /** Streams that the client resets: so many at once, then so many a second (CVE-2023-44487). */
  streamResetBurst: 200,
  streamResetRate: 33,
  /** A check of our own responses, for each of their fields. */
  strictSingleValueFields: false,
  settings: {
    maxConcurrentStreams: 100,
    /** Bytes of names and values, with 32 for each field: a message of 48 KiB still goes by GET. */
    maxHeaderListSize: 65_536,
    enablePush: false,
  },
}

/** For all connections. */
const FIELDS = new ResponseFields()

/** What answers the requests of a connection. */
export type Http2Service = {
  /** Answers what `direct` leaves. */
  readonly listener: (request: Http2ServerRequest, response: Http2ServerResponse) => unknown
  readonly direct: Direct | undefined
  readonly turns: NetworkTurns
  /** Returns milliseconds of a monotonic clock. */
  readonly now: () => number
}

/** The header fields of a request, as an object and in the order in which they were sent. */
type Fields = { readonly headers: IncomingHttpHeaders; readonly rawHeaders: readonly string[] }

/** Serves one TLS socket. */
export class Http2Connection implements SelfBounded {
  private readonly socket: TLSSocket
  private readonly service: Http2Service
  private readonly session: ServerHttp2Session
  private readonly network: string
  /**
   * Open streams, at most a hundred. No `Map`: V8 keeps its former tables and the streams in them
   * until it collects the old generation, so that young collections took 21 in place of 16 ms.
   */
  private readonly open: { readonly stream: ServerHttp2Stream; readonly startMs: number }[] = []
  private heldBytes = 0
  private changedMs: number
  /** Whether a request was answered other than with an error. */
  hasServed = false

  constructor(socket: TLSSocket, service: Http2Service) {
    this.socket = socket
    this.service = service
    this.network = clientNetwork(socket.remoteAddress ?? '')
    this.changedMs = service.now()
    this.session = performServerHandshake(socket, SESSION_OPTIONS)
    // The session destroys itself then, and its socket.
    this.session.on('error', ignore)
    this.session.on('stream', (stream, headers, _, rawHeaders) => {
      this.take(stream, { headers, rawHeaders })
    })
  }

  /** Since when no complete request waits for its response; `Infinity` while one does. */
  get idleSinceMs(): number {
    for (const { stream } of this.open) {
      if (isComplete(stream) && !stream.headersSent) return Number.POSITIVE_INFINITY
    }
    return this.changedMs
  }

  /** Ends what takes too long: a body, a response that the client does not take, a pause. */
  check(nowMs: number, { readMs, idleMs, writeMs }: PhaseTimes): void {
    for (const { stream, startMs } of [...this.open]) {
      if (nowMs - startMs >= writeMs) {
        this.close()
        return
      }
      if (nowMs - startMs >= readMs && !isComplete(stream)) stream.close(NGHTTP2_CANCEL)
    }
    const pauseMs = this.hasServed ? idleMs : readMs
    if (this.open.length > 0 || nowMs - this.changedMs < pauseMs) return
    // The client has had one interval of checks to close the connection.
    if (this.session.closed) this.socket.destroy()
    else this.session.close()
  }

  /** Ends the connection at once with all its streams. */
  close(): void {
    this.session.destroy()
  }

  private take(stream: ServerHttp2Stream, fields: Fields): void {
    const { turns, now } = this.service
    this.changedMs = now()
    this.open.push({ stream, startMs: this.changedMs })
    // A stream that the client resets fails.
    stream.on('error', ignore)
    stream.on('close', () => {
      this.forget(stream)
      this.changedMs = now()
    })
    turns.take(this.network, () => {
      if (!stream.destroyed) this.serve(stream, fields)
    })
  }

  private forget(closed: ServerHttp2Stream): void {
    const { open } = this
    const place = open.findIndex(({ stream }) => stream === closed)
    const last = place < 0 ? undefined : open.pop()
    if (last !== undefined && place < open.length) open[place] = last
  }

  private serve(stream: ServerHttp2Stream, fields: Fields): void {
    const answer = this.service.direct?.(new StreamHead(fields, this.socket))
    if (answer === undefined) {
      this.serveByApp(stream, fields)
      return
    }
    const { ':method': method, expect } = fields.headers
    // A body means nothing to a GET (RFC 9110 §9.3.1).
    if (method !== 'POST') {
      this.answer(stream, answer)
      return
    }
    if (expect === '100-continue') stream.additionalHeaders({ ':status': 100 })
    this.collect(stream, answer, Number(fields.headers['content-length']))
  }

  private serveByApp(stream: ServerHttp2Stream, { headers, rawHeaders }: Fields): void {
    const request = new Http2ServerRequest(stream, headers, {}, rawHeaders)
    const response = new Http2ServerResponse(stream)
    if (headers.expect === '100-continue') response.writeContinue()
    response.once('finish', () => this.responded(response.statusCode))
    this.service.listener(request, response)
  }

  /**
   * Answers when the body has the length that its headers name, else at its end: Node takes 5 µs
   * more to report that. nghttp2 refuses a body of another length.
   */
  private collect(stream: ServerHttp2Stream, answer: Answer, length: number): void {
    const chunks: Buffer[] = []
    let size = 0
    let isAnswered = false
    const finish = (): void => {
      if (isAnswered || stream.closed) return
      isAnswered = true
      const [only = EMPTY] = chunks
      this.answer(stream, answer, chunks.length < 2 ? only : Buffer.concat(chunks))
    }
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      this.heldBytes += chunk.length
      const isTooMuch = size > DIRECT_BODY_BYTES_MAX || this.heldBytes > HELD_BYTES_MAX
      if (isTooMuch) stream.close(NGHTTP2_ENHANCE_YOUR_CALM)
      else if (size === length) finish()
    })
    stream.on('end', finish)
    stream.on('close', () => {
      this.heldBytes -= size
    })
  }

  private answer(stream: ServerHttp2Stream, answer: Answer, body?: Uint8Array): void {
    const fail = (): void => stream.close(NGHTTP2_INTERNAL_ERROR)
    try {
      const ready = answer(body)
      if (ready instanceof Promise) ready.then((one) => this.respond(stream, one)).catch(fail)
      else this.respond(stream, ready)
    } catch {
      fail()
    }
  }

  private respond(stream: ServerHttp2Stream, { status, headers, body }: Ready): void {
    if (stream.closed) return
    stream.respond(FIELDS.of(status, headers))
    // A copy in the pool of buffers: the stream would move a small array out of the heap.
    stream.end(Buffer.from(body))
    this.responded(status)
  }

  private responded(status: number): void {
    if (status < 400) this.hasServed = true
  }
}

/** A request's head as `direct` reads it. */
class StreamHead implements Head {
  readonly method: string
  readonly path: string
  readonly address: string
  private readonly rawHeaders: readonly string[]
  private readonly socket: TLSSocket

  constructor({ headers, rawHeaders }: Fields, socket: TLSSocket) {
    this.method = headers[':method'] ?? ''
    this.path = headers[':path'] ?? ''
    this.address = socket.remoteAddress ?? ''
    this.rawHeaders = rawHeaders
    this.socket = socket
  }

  /** Joins fields of one name, as the app gets them: `node:http2` keeps the first of some. */
  header(name: string): string | undefined {
    const { rawHeaders } = this
    let found: string | undefined
    for (let i = 0; i < rawHeaders.length; i += 2) {
      if (rawHeaders[i] !== name) continue
      const value = rawHeaders[i + 1] ?? ''
      found = found === undefined ? value : `${found}, ${value}`
    }
    return found
  }

  identities(): readonly string[] {
    return identitiesOfSocket(this.socket)
  }

  ends(): Ends {
    return endsOf(this.socket)
  }
}

function isComplete(stream: ServerHttp2Stream): boolean {
  return stream.endAfterHeaders || stream.readableEnded
}

function ignore(): void {}
