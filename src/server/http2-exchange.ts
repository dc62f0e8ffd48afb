/**
 * A request over HTTP/2 as the app sees it, a `Request` with a body that the client may send no
 * faster than it is read; and the app's `Response` on its way back.
 * @module
 */
import { EMPTY } from '../bytes/bytes.ts'
import type { Connection } from '../http2/connection.ts'
import { ERROR_CODE } from '../http2/frame.ts'
import type { RequestHead } from '../http2/request-head.ts'
import type { StreamReceiver } from '../http2/stream.ts'
import type { App } from './http-request.ts'
import type { SecureSocket } from './http2-socket.ts'

/** What an exchange belongs to. */
export type ExchangeOptions = {
  readonly connection: Connection
  readonly socket: SecureSocket
  readonly app: App
}

/** A request of one stream. */
export type StreamRequest = {
  readonly id: number
  readonly head: RequestHead
  /** Whether it has no body. */
  readonly isWhole: boolean
}

/** What would end the host in a URL (RFC 3986 §3.2), or stand before it. */
const BEYOND_HOST = /[/\\?#@]/
/** Fields that HTTP/2 has not (RFC 9113 §8.2.2). */
const CONNECTION_SPECIFIC: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** One request and its response. */
export class Http2Exchange implements StreamReceiver {
  private readonly options: ExchangeOptions
  private readonly id: number
  private readonly isHead: boolean
  private readonly chunks: Uint8Array[] = []
  private controller: ReadableStreamDefaultController<Uint8Array> | undefined
  private isWanted = false
  private isDropped = false
  private isWhole: boolean
  private isOver = false
  private onWritten: (() => void) | undefined
  private reader: ReadableStreamDefaultReader<Uint8Array> | undefined

  constructor(options: ExchangeOptions, request: StreamRequest) {
    this.options = options
    this.id = request.id
    this.isHead = request.head.method === 'HEAD'
    this.isWhole = request.isWhole
    // Whatever comes of a body that nobody waits for is dropped.
    this.isDropped = request.isWhole
  }

  /** Has the app answer. Never rejects. */
  async run(request: StreamRequest): Promise<void> {
    const { connection, app, socket } = this.options
    const asked = this.requestOf(request)
    if (asked === undefined) {
      connection.respond(this.id, { status: 400, headers: {}, body: EMPTY })
      return
    }
    let response: Response
    try {
      response = await app.fetch(asked, { incoming: { socket } })
    } catch {
      connection.respond(this.id, { status: 500, headers: {}, body: EMPTY })
      return
    }
    try {
      await this.send(response)
    } catch {
      // What is on its way cannot be made good any more.
      connection.reset(this.id, ERROR_CODE.INTERNAL_ERROR)
    }
  }

  /** Takes bytes of the body. */
  data(octets: Uint8Array): void {
    if (this.isDropped) {
      this.options.connection.consumed(this.id, octets.length)
      return
    }
    // Copied, as a few bytes would keep all that came with them.
    this.chunks.push(Buffer.from(octets))
    if (this.isWanted) this.deliver()
  }

  /** The body is whole. */
  end(): void {
    this.isWhole = true
    if (this.isWanted) this.deliver()
  }

  /** The client is gone, or wants no answer any more. */
  reset(): void {
    this.isOver = true
    if (!this.isWhole && !this.isDropped) this.controller?.error(new Error('The body broke off'))
    this.isDropped = true
    this.writable()
    void this.reader?.cancel().catch(() => undefined)
  }

  /** The client has taken what was written. */
  writable(): void {
    this.onWritten?.()
    this.onWritten = undefined
  }

  /** Makes the request; `undefined` when there is no such URL or method. */
  private requestOf({ head, isWhole }: StreamRequest): Request | undefined {
    const { method, authority, path } = head
    const [plainPath = ''] = path.split('?', 1)
    const isUrl = authority !== '' && !BEYOND_HOST.test(authority) && !plainPath.includes('\\')
    if (!isUrl || !path.startsWith('/')) return undefined
    try {
      const headers = new Headers()
      for (const { name, value, isPseudo } of head.fields) {
        if (!isPseudo) headers.append(name, value)
      }
      const body = isWhole ? null : this.bodyStream()
      const url = `https://${authority}${path}`
      if (method === 'TRACE') return trace(url, headers)
      return new Request(url, { method, headers, body, duplex: 'half' })
    } catch {
      return undefined
    }
  }

  private bodyStream(): ReadableStream<Uint8Array> {
    const source = {
      start: (controller: ReadableStreamDefaultController<Uint8Array>) => {
        this.controller = controller
      },
      pull: () => this.deliver(),
      cancel: () => this.drop(),
    }
    return new ReadableStream(source, { highWaterMark: 0 })
  }

  /** Gives the reader what there is; the client may send as much more. */
  private deliver(): void {
    const chunk = this.chunks.shift()
    this.isWanted = chunk === undefined && !this.isWhole
    if (chunk !== undefined) {
      this.controller?.enqueue(chunk)
      this.options.connection.consumed(this.id, chunk.length)
    } else if (this.isWhole && !this.isDropped) {
      this.isDropped = true
      this.controller?.close()
    }
  }

  /** Nobody reads the body. */
  private drop(): void {
    this.isDropped = true
    for (const { length } of this.chunks) this.options.connection.consumed(this.id, length)
    this.chunks.length = 0
  }

  private async send({ status, headers, body }: Response): Promise<void> {
    const { connection } = this.options
    const fields = [...headers].filter(([name]) => !CONNECTION_SPECIFIC.has(name))
    const isEnd = body === null || this.isHead || NO_BODY.has(status)
    connection.begin(this.id, { status, fields, isEnd })
    if (body === null) return
    const reader = body.getReader()
    this.reader = reader
    while (!isEnd && !this.isOver) {
      const { done, value } = await reader.read()
      if (done) {
        connection.end(this.id)
        return
      }
      if (value.length > 0) await this.write(value)
    }
    await reader.cancel()
  }

  /** Writes a part of the body; resolves when there may be more, or nobody takes it. */
  private write(part: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (this.isOver) {
        resolve()
        return
      }
      this.onWritten = resolve
      this.options.connection.write(this.id, part)
    })
  }
}

/** Makes a request that `Request` does not make: it is for the app to refuse it. */
function trace(url: string, headers: Headers): Request {
  const request = new Request(url, { headers })
  Object.defineProperty(request, 'method', { value: 'TRACE' })
  return request
}
