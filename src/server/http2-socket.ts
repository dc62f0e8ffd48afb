/**
 * One connection of HTTP/2 over a socket with TLS: common requests are answered as they come, all
 * others by the app.
 * @module
 */
import { EMPTY } from '../bytes/bytes.ts'
import { Connection, type ProgressTimes } from '../http2/connection.ts'
import { ERROR_CODE } from '../http2/frame.ts'
import type { Latin1 } from '../http2/header-decoder.ts'
import type { RequestHead } from '../http2/request-head.ts'
import type { StreamReceiver } from '../http2/stream.ts'
import { Turns } from '../node/turns.ts'
import {
  type Answer,
  type App,
  DIRECT_BODY_BYTES_MAX,
  type Direct,
  type Ends,
  endsOf,
  type Head,
  identitiesOfSocket,
  type Ready,
  type SocketEnds,
} from './http-request.ts'
import { Http2Exchange } from './http2-exchange.ts'

/** Bytes of bodies of one connection that are not whole yet and are answered without the app. */
const HELD_BYTES_MAX = 1_048_576
/** How long a client may take to end a connection that we have ended. */
const LINGER_MS = 1000
/** How often a connection is looked at, at most and at least. */
const CHECK_MS = { atLeast: 10, atMost: 1000 }

/** The turns of connections whose clients send much at once. */
const TURNS = new Turns()

/** What answers the requests of a connection, and how long it may take. */
export type Http2SocketOptions = {
  readonly app: App
  readonly direct: Direct | undefined
  readonly times: ProgressTimes
  readonly onClosed?: () => void
}

/** What a connection needs of the socket below it, which tells it what happens. */
export type SecureSocket = SocketEnds & {
  readonly destroyed: boolean
  /** Writes bytes, which it keeps. @returns whether more may be written before it is `drained` */
  write(octets: Uint8Array): boolean
  /** The same with bytes that are there only as long as the call, where it can do that. */
  writeBorrowed?(octets: Uint8Array): boolean
  /** Ends the connection after what was written. */
  end(): unknown
  destroy(): unknown
  pause(): unknown
  resume(): unknown
}

/** Serves one socket. */
export class Http2Socket {
  private readonly socket: SecureSocket
  private readonly options: Http2SocketOptions
  private readonly connection: Connection
  private readonly checks: NodeJS.Timeout
  private readonly address: string
  private heldBytes = 0

  constructor(socket: SecureSocket, options: Http2SocketOptions) {
    this.socket = socket
    this.options = options
    this.address = socket.remoteAddress ?? ''
    this.connection = new Connection({
      sink: {
        write: (octets) => socket.destroyed || write(socket, octets),
        end: () => this.linger(),
      },
      onRequest: (id, head, isWhole) => this.take(id, head, isWhole),
      latin1,
      now: () => performance.now(),
      wallNow: Date.now,
      defer: queueMicrotask,
      yieldTurn: (run) => TURNS.add(() => this.proceed(run)),
    })
    const { connection } = this
    this.checks = setInterval(() => {
      if (connection.check(options.times)) socket.destroy()
    }, checkMs(options.times))
    this.checks.unref()
  }

  /** Since when no complete request waits for its response; `Infinity` while one does. */
  get idleSinceMs(): number {
    return this.connection.idleSinceMs
  }

  /** Whether a request was answered other than with an error. */
  get hasServed(): boolean {
    return this.connection.hasServed
  }

  /** Takes bytes from the client, which it may hold on to. */
  received(chunk: Uint8Array): void {
    this.connection.receive(chunk)
    if (this.connection.isBlocked) this.socket.pause()
  }

  private proceed(run: () => void): void {
    run()
    if (!this.connection.isBlocked && !this.socket.destroyed) this.socket.resume()
  }

  /** The socket takes bytes again. */
  drained(): void {
    this.connection.drained()
    if (!this.connection.isBlocked) this.socket.resume()
  }

  /** The client sends nothing more. */
  ended(): void {
    this.connection.shutDown(ERROR_CODE.NO_ERROR)
  }

  /** The socket is gone. */
  closed(): void {
    clearInterval(this.checks)
    this.connection.closed()
    this.options.onClosed?.()
  }

  /** Ends the connection at once; the client learns which streams were looked at. */
  close(): void {
    this.connection.shutDown(ERROR_CODE.NO_ERROR)
    this.socket.destroy()
  }

  /** Lets the client read what was written last: bytes that nobody reads would cut it off. */
  private linger(): void {
    const { socket } = this
    socket.end()
    socket.resume()
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }

  private take(id: number, head: RequestHead, isWhole: boolean): StreamReceiver | undefined {
    const { method } = head
    if (!isWhole && head.header('expect') === '100-continue') {
      this.connection.begin(id, { status: 100, fields: [], isEnd: false })
    }
    const answer = this.options.direct?.(new StreamHead(head, this.socket, this.address))
    // A body means nothing to these methods (RFC 9110 §9.3.1): the answer does not wait for it.
    const hasBody = !isWhole && method !== 'GET' && method !== 'HEAD'
    if (answer === undefined) return this.exchange(id, head, !hasBody)
    if (method === 'POST' && !isWhole) return this.collect(id, answer)
    this.answer(id, answer, method === 'POST' ? EMPTY : undefined)
    return undefined
  }

  private answer(id: number, answer: Answer, body: Uint8Array | undefined): void {
    const { connection } = this
    const fail = (): void => connection.reset(id, ERROR_CODE.INTERNAL_ERROR)
    try {
      const ready = answer(body)
      if (ready instanceof Promise) {
        ready.then((one: Ready) => connection.respond(id, one)).catch(fail)
      } else connection.respond(id, ready)
    } catch {
      fail()
    }
  }

  /** Answers when the body is there; most come in one piece. */
  private collect(id: number, answer: Answer): StreamReceiver {
    const parts: Buffer[] = []
    let size = 0
    const letGo = (): void => {
      this.heldBytes -= size
      size = 0
    }
    return {
      data: (octets) => {
        this.connection.consumed(id, octets.length)
        this.heldBytes += octets.length
        size += octets.length
        // Copied, as a few bytes would keep all that came with them.
        parts.push(Buffer.from(octets))
        const isTooMuch = this.heldBytes > HELD_BYTES_MAX || size > DIRECT_BODY_BYTES_MAX
        if (isTooMuch) this.connection.reset(id, ERROR_CODE.ENHANCE_YOUR_CALM)
      },
      end: () => {
        letGo()
        const [only] = parts
        this.answer(id, answer, parts.length === 1 && only ? only : Buffer.concat(parts))
      },
      reset: letGo,
      writable: () => undefined,
    }
  }

  private exchange(id: number, head: RequestHead, isWhole: boolean): StreamReceiver {
    const { connection, socket } = this
    const request = { id, head, isWhole }
    const exchange = new Http2Exchange({ connection, socket, app: this.options.app }, request)
    void exchange.run(request)
    return exchange
  }
}

/** The connection goes on writing where the bytes were. */
function write(socket: SecureSocket, octets: Uint8Array): boolean {
  return socket.writeBorrowed === undefined
    ? socket.write(Buffer.from(octets))
    : socket.writeBorrowed(octets)
}

/** A head as `direct` looks at it. */
class StreamHead implements Head {
  readonly method: string
  readonly path: string
  readonly address: string
  private readonly head: RequestHead
  private readonly socket: SecureSocket

  constructor(head: RequestHead, socket: SecureSocket, address: string) {
    this.method = head.method
    this.path = head.path
    this.address = address
    this.head = head
    this.socket = socket
  }

  header(name: string): string | undefined {
    return this.head.header(name)
  }

  identities(): readonly string[] {
    return identitiesOfSocket(this.socket)
  }

  ends(): Ends {
    return endsOf(this.socket)
  }
}

/** As the runtime does it quickest: four times as quick as `String.fromCharCode` (measured). */
const latin1: Latin1 = (bytes, start, end) => Buffer.prototype.latin1Slice.call(bytes, start, end)

function checkMs({ readMs, idleMs, writeMs }: ProgressTimes): number {
  const atMost = Math.min(readMs / 4, idleMs / 4, writeMs / 4, CHECK_MS.atMost)
  return Math.max(CHECK_MS.atLeast, atMost)
}
