/**
 * What stands between a socket and Node's parser of HTTP/1.1, which takes all requests of a chunk
 * at once: the gate hands it a few bytes at a time, and none while a response is under way.
 * @module
 */
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { clientNetwork } from '../dns/network.ts'
import type { NetworkTurns } from './network-turns.ts'

/** Bytes that may begin requests. No request is shorter than 26, a common one has 300. */
const REQUEST_BYTES = 1024
/** Bytes at a time of a body. */
const BODY_BYTES = 16_384
/** How long a client may take to close a connection that we have ended. */
const LINGER_MS = 1000

/** What the next bytes of a connection are for; `wait` while the server works on a response. */
export type Expected = 'request' | 'body' | 'wait'

/** What a gate needs beside its socket. */
export type GateOptions = {
  readonly turns: NetworkTurns
  /** Returns what the next bytes are for. */
  readonly expected: () => Expected
}

/** A socket, over TCP or TLS, that lets requests through one after the other. */
export class HttpGate extends Duplex {
  /** The socket below. */
  readonly source: Socket
  readonly encrypted: boolean
  readonly remoteAddress: string | undefined
  readonly remotePort: number | undefined
  readonly localAddress: string | undefined
  readonly localPort: number | undefined
  private readonly options: GateOptions
  private readonly network: string
  private chunk: Buffer | undefined
  private isWaiting = false
  private hasEnded = false

  constructor(source: Socket, options: GateOptions) {
    super()
    this.source = source
    // A client that sends nothing more still gets the responses under way.
    source.allowHalfOpen = true
    this.options = options
    this.encrypted = 'encrypted' in source
    const { remoteAddress, remotePort, localAddress, localPort } = source
    this.remoteAddress = remoteAddress
    this.remotePort = remotePort
    this.localAddress = localAddress
    this.localPort = localPort
    this.network = clientNetwork(remoteAddress ?? '')
    source.on('data', (chunk: Buffer) => this.receive(chunk))
    source.on('end', () => {
      this.hasEnded = true
      this.deliver()
    })
    source.on('timeout', () => this.emit('timeout'))
    source.on('error', () => undefined)
    source.on('close', () => this.destroy())
  }

  /** Learns that a response is complete. */
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

  /** Reads on for a while: unread bytes would make the system drop what was written last. */
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

  /** Ends after what was written. */
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

  /** Has the next piece handed over when it is due. */
  private deliver(): void {
    if (this.isWaiting || this.destroyed) return
    if (this.chunk === undefined) {
      if (this.hasEnded) this.push(null)
      else if (this.source.isPaused()) this.source.resume()
      return
    }
    if (this.options.expected() === 'wait') return
    this.isWaiting = true
    this.options.turns.take(this.network, () => {
      this.isWaiting = false
      this.handOver()
    })
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
