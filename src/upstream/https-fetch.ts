/**
 * Requests to one HTTPS server at a given address over persistent connections: HTTP/2 if the server
 * supports it, else HTTP/1.1. `fetch` lets us choose neither the address nor the certificates.
 * @module
 */
import { Agent as PlainAgent, type RequestOptions, request as requestPlain } from 'node:http'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { Agent, request } from 'node:https'
import type { Readable } from 'node:stream'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { MESSAGE_BYTES_MAX } from '../dns/limits.ts'
import type { DohRequest } from '../doh/doh-client.ts'

/** Maximum number of HTTP/1.1 connections. */
const CONNECTIONS_MAX = 64

/** The server's address, and options of connections. */
export type HttpsServer = {
  readonly address: string
  readonly port: number
  readonly tls: ConnectionOptions
  readonly expireMs: number
  readonly idleMax: number
  readonly sourceAddress: string | undefined
}

/** Requests to one server. */
export class HttpsFetch {
  private readonly server: HttpsServer
  private readonly agent: Agent
  private readonly plainAgent: PlainAgent
  private speaksHttp2: boolean | undefined
  private session: ClientHttp2Session | undefined
  /** Responses so far, by which a slow query is distinguished from a dead connection. */
  private responses = 0
  private connecting: Promise<ClientHttp2Session | undefined> | undefined

  constructor(server: HttpsServer) {
    this.server = server
    const kept = {
      keepAlive: true,
      maxSockets: CONNECTIONS_MAX,
      timeout: server.expireMs,
      ...(server.idleMax > 0 && { maxFreeSockets: server.idleMax }),
    }
    this.agent = new Agent({ ...kept, ...server.tls })
    this.plainAgent = new PlainAgent(kept)
  }

  /**
   * Resolves with the response and its body of at most 64 KiB, the maximum of a message.
   * @throws {Error} with the reason
   */
  async fetch(url: string, wanted: DohRequest): Promise<Response> {
    const { session, responses } = this
    try {
      const response = await this.request(new URL(url), wanted)
      this.responses++
      return response
    } catch (cause) {
      if (!wanted.signal.aborted) throw cause
      const { reason } = wanted.signal
      if (!(reason instanceof DOMException) || reason.name !== 'TimeoutError') throw cause
      // A laptop that has slept or changed its network has a dead connection, which TCP notices
      // after minutes only: the next query gets another one.
      if (this.responses === responses) session?.close()
      throw new Error('no response over HTTPS in time', { cause })
    }
  }

  /** Closes all connections after their pending responses. */
  close(): void {
    for (const { freeSockets } of [this.agent, this.plainAgent]) {
      for (const socket of Object.values(freeSockets).flat()) socket?.destroy()
    }
    this.session?.close()
  }

  private async request(target: URL, wanted: DohRequest): Promise<Response> {
    const session = target.protocol === 'https:' ? await this.http2(wanted.signal) : undefined
    if (session === undefined) return this.fetchHttp1(target, wanted)
    try {
      return await fetchHttp2(session, target, wanted)
    } catch (error) {
      // The server may have closed a reused connection. DNS queries can be sent twice.
      const next = isOver(session) ? await this.http2(wanted.signal) : undefined
      if (next === undefined || wanted.signal.aborted) throw error
      return fetchHttp2(next, target, wanted)
    }
  }

  /** Returns the open session or a new one; `undefined` if the server does not support HTTP/2. */
  private async http2(signal: AbortSignal): Promise<ClientHttp2Session | undefined> {
    if (this.speaksHttp2 === false) return undefined
    if (this.session !== undefined && !isOver(this.session)) return this.session
    this.connecting ??= this.connect(signal).finally(() => {
      this.connecting = undefined
    })
    this.session = await this.connecting
    return this.session
  }

  /** Negotiates the protocol (RFC 7301). Resolves with `undefined` without HTTP/2. */
  private async connect(signal: AbortSignal): Promise<ClientHttp2Session | undefined> {
    const { expireMs } = this.server
    const socket = await this.connectTls(signal)
    this.speaksHttp2 = socket.alpnProtocol === 'h2'
    if (!this.speaksHttp2) {
      socket.destroy()
      return undefined
    }
    const session = connectHttp2('https://upstream', { createConnection: () => socket })
    session.on('error', () => undefined)
    session.setTimeout(expireMs, () => {
      session.close()
    })
    return session
  }

  private connectTls(signal: AbortSignal): Promise<TLSSocket> {
    const { address: host, port, tls, sourceAddress } = this.server
    const local = sourceAddress === undefined ? {} : { localAddress: sourceAddress }
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, ...local, ...tls, ALPNProtocols: ['h2', 'http/1.1'] })
      const abort = (): void => {
        socket.destroy(new Error('aborted'))
      }
      signal.addEventListener('abort', abort, { once: true })
      socket.once('error', reject)
      socket.once('secureConnect', () => {
        signal.removeEventListener('abort', abort)
        socket.off('error', reject)
        resolve(socket)
      })
    })
  }

  private fetchHttp1(
    target: URL,
    { method, headers, body, signal }: DohRequest,
  ): Promise<Response> {
    const { address: host, port, tls, sourceAddress } = this.server
    const isPlain = target.protocol === 'http:'
    const options: RequestOptions = {
      host,
      port,
      method,
      path: `${target.pathname}${target.search}`,
      headers: { ...headers, host: target.host, ...(body && { 'content-length': body.length }) },
      signal,
      ...(sourceAddress !== undefined && { localAddress: sourceAddress }),
    }
    return new Promise((resolve, reject) => {
      const sent = isPlain
        ? requestPlain({ ...options, agent: this.plainAgent })
        : request({ ...options, ...tls, agent: this.agent })
      sent.once('error', reject)
      sent.once('response', (response) => {
        const type = response.headers['content-type']
        const age = response.headers.age
        const found = { status: response.statusCode ?? 0, type, age }
        readAll(response).then((bytes) => resolve(responseOf(found, bytes)), reject)
      })
      sent.end(body)
    })
  }
}

function isOver({ closed, destroyed }: ClientHttp2Session): boolean {
  return closed || destroyed
}

function fetchHttp2(
  session: ClientHttp2Session,
  target: URL,
  { method, headers, body, signal }: DohRequest,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const stream = session.request(
      {
        ':method': method,
        ':scheme': 'https',
        ':authority': target.host,
        ':path': `${target.pathname}${target.search}`,
        ...headers,
      },
      { signal, endStream: false },
    )
    stream.once('error', reject)
    stream.once('response', (found) => {
      const { ':status': status = 0, 'content-type': type, age } = found
      const resolveWhole = (bytes: Uint8Array<ArrayBuffer>): void => {
        // A lost connection ends the stream without an error.
        if (stream.rstCode !== undefined && stream.rstCode !== 0) {
          reject(new Error('the response broke off'))
        } else resolve(responseOf({ status, type, age }, bytes))
      }
      readAll(stream).then(resolveWhole, reject)
    })
    stream.end(body)
  })
}

function responseOf(
  found: { readonly status: number; readonly type: string | undefined; readonly age: unknown },
  body: Uint8Array<ArrayBuffer>,
): Response {
  const headers = new Headers()
  if (found.type !== undefined) headers.set('content-type', found.type)
  if (typeof found.age === 'string') headers.set('age', found.age)
  // The constructor of Response rejects other statuses, and bodies with some of these.
  const status = found.status >= 200 && found.status <= 599 ? found.status : 502
  return new Response(status === 200 ? body : null, { status, headers })
}

function readAll(stream: Readable): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= MESSAGE_BYTES_MAX) chunks.push(chunk)
      else stream.destroy(new Error(`the response exceeds ${MESSAGE_BYTES_MAX} bytes`))
    })
    stream.once('end', () => resolve(new Uint8Array(Buffer.concat(chunks))))
    stream.once('error', reject)
    stream.once('close', () => reject(new Error('the response broke off')))
  })
}
