/**
 * Throttles what Node's HTTP/1.1 parser reads of a socket. The parser would emit all pipelined
 * requests of a chunk at once; the gate passes it a few bytes at a time, and none while a response
 * is in flight.
 * @module
 */
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { FairQueue } from '../sockets/fair-queue.ts'

/** Bytes per piece between requests. The shortest request has 26 bytes, a common one 300. */
const REQUEST_BYTES = 1024
/** Bytes per piece of a body. */
const BODY_BYTES = 16_384
/** CPU time of the end of a connection, which Node spends after the gate has passed it on. */
const END_COST_MS = 0.2
/** Time for the client to close a connection that the server has ended. */
const LINGER_MS = 1000

/** What the next bytes belong to; `wait` while the server works on a response. */
export type Expected = 'request' | 'body' | 'wait'

/** Collaborators of a gate. */
export type GateOptions = {
  /** The client whose turn a request takes. */
  readonly client: string
  readonly queue: FairQueue
  /** Returns what the next bytes belong to. */
  readonly expected: () => Expected
}

/** Wraps a TCP or TLS socket and lets one request through at a time. */
export class HttpGate extends Duplex {
  /** The wrapped socket. */
  readonly source: Socket
  readonly encrypted: boolean
  readonly remoteAddress: string | undefined
  readonly remotePort: number | undefined
  readonly remoteFamily: string | undefined
  readonly localAddress: string | undefined
  readonly localPort: number | undefined
  private readonly options: GateOptions
  private chunk: Buffer | undefined
  private isWaiting = false
  private hasEnded = false

  constructor(source: Socket, options: GateOptions) {
    super()
    this.source = source
    // A client that half-closes its connection still gets the responses in flight.
    source.allowHalfOpen = true
    this.options = options
    this.encrypted = 'encrypted' in source
    const { remoteAddress, remotePort, remoteFamily, localAddress, localPort } = source
    this.remoteAddress = remoteAddress
    this.remotePort = remotePort
    this.remoteFamily = remoteFamily
    this.localAddress = localAddress
    this.localPort = localPort
    source.on('data', (chunk: Buffer) => this.receive(chunk))
    source.on('end', () => {
      this.hasEnded = true
      this.deliver()
    })
    source.on('timeout', () => this.emit('timeout'))
    source.on('error', () => undefined)
    source.on('close', () => this.destroy())
  }

  /** Continues reading; call it when a response is complete. */
  proceed(): void {
    this.deliver()
  }

  override _read(): void {
    this.deliver()
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, callback: () => void): void {
    this.source.write(chunk, encoding, callback)
  }

  override _writev(
    chunks: readonly { readonly chunk: Buffer; readonly encoding: BufferEncoding }[],
    callback: () => void,
  ): void {
    const { source } = this
    source.cork()
    for (const [i, { chunk, encoding }] of chunks.entries()) {
      source.write(chunk, encoding, i === chunks.length - 1 ? callback : undefined)
    }
    source.uncork()
  }

  /** Drains the socket for a while: unread bytes at its close would discard the last response. */
  override _final(callback: () => void): void {
    const { source } = this
    this.chunk = undefined
    source.resume()
    const timer = setTimeout(() => source.destroy(), LINGER_MS)
    timer.unref()
    source.once('close', () => clearTimeout(timer))
    source.end(callback)
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.source.destroy()
    callback(error)
  }

  /** Closes the socket after sending all writes. */
  destroySoon(): void {
    this.end()
  }

  setTimeout(ms: number): this {
    this.source.setTimeout(ms)
    return this
  }

  setNoDelay(isOn?: boolean): this {
    this.source.setNoDelay(isOn)
    return this
  }

  setKeepAlive(isOn?: boolean, delayMs?: number): this {
    this.source.setKeepAlive(isOn, delayMs)
    return this
  }

  private receive(chunk: Buffer): void {
    if (this.writableEnded) return
    this.chunk = this.chunk === undefined ? chunk : Buffer.concat([this.chunk, chunk])
    this.deliver()
    if (this.chunk !== undefined) this.source.pause()
  }

  /** Schedules the next piece for the parser. */
  private deliver(): void {
    if (this.isWaiting || this.destroyed) return
    if (this.chunk === undefined && !this.hasEnded) {
      if (this.source.isPaused()) this.source.resume()
      return
    }
    if (this.chunk !== undefined && this.options.expected() === 'wait') return
    this.isWaiting = true
    const followingMs = this.chunk === undefined ? END_COST_MS : 0
    const next = (): void => {
      this.isWaiting = false
      if (this.chunk === undefined) this.push(null)
      else this.handOver()
    }
    this.options.queue.run(this.options.client, next, followingMs)
  }

  private handOver(): void {
    const expected = this.options.expected()
    const { chunk } = this
    if (this.destroyed || chunk === undefined || expected === 'wait') return
    const size = expected === 'body' ? BODY_BYTES : REQUEST_BYTES
    this.chunk = chunk.length > size ? chunk.subarray(size) : undefined
    if (this.push(chunk.subarray(0, size))) this.deliver()
  }
}
