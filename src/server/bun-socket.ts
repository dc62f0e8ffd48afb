/**
 * A socket of Bun's, as those who serve connections want it: what it does not take at once waits
 * here, and goes first when it takes bytes again.
 * @module
 */
import { Duplex } from 'node:stream'
import type { SecureSocket } from './http2-socket.ts'

/** How long HTTP/1.1 goes on without a byte either way. */
const IDLE_MS = 15_000

/** What this module uses of a socket (https://bun.com/reference/bun/Socket). */
export type RawSocket = {
  readonly alpnProtocol: string | false | null
  readonly remoteAddress: string
  readonly remotePort: number
  readonly localAddress: string
  readonly localPort: number
  /** Begins to write. @returns how many bytes it took, less than 0 when it takes no more */
  write(octets: Uint8Array): number
  end(): unknown
  terminate(): unknown
  pause(): unknown
  resume(): unknown
}

/** Who learns what happens to a socket. */
export type SocketListener = {
  received(chunk: Uint8Array): void
  drained(): void
  ended(): void
  closed(): void
}

/** A socket that keeps what is written to it. */
export class BunSocket implements SecureSocket {
  readonly remoteAddress: string
  readonly remotePort: number
  readonly localAddress: string
  readonly localPort: number
  destroyed = false
  private readonly raw: RawSocket
  private waiting: Uint8Array[] = []
  private isEnding = false

  constructor(raw: RawSocket) {
    this.raw = raw
    this.remoteAddress = raw.remoteAddress
    this.remotePort = raw.remotePort
    this.localAddress = raw.localAddress
    this.localPort = raw.localPort
  }

  write(octets: Uint8Array): boolean {
    const size = this.writeSome(octets)
    if (size < octets.length) this.waiting.push(octets.subarray(size))
    return size >= octets.length
  }

  /** Copies only what is not taken at once. */
  writeBorrowed(octets: Uint8Array): boolean {
    const size = this.writeSome(octets)
    if (size < octets.length) this.waiting.push(Buffer.from(octets.subarray(size)))
    return size >= octets.length
  }

  /** Writes what waits. @returns whether all of it is written */
  flush(): boolean {
    const { waiting } = this
    this.waiting = []
    for (const octets of waiting) this.write(octets)
    const isFlushed = this.waiting.length === 0
    if (isFlushed && this.isEnding) this.raw.end()
    return isFlushed
  }

  end(): void {
    this.isEnding = true
    if (this.waiting.length === 0) this.raw.end()
  }

  destroy(): void {
    this.destroyed = true
    this.raw.terminate()
  }

  pause(): void {
    this.raw.pause()
  }

  resume(): void {
    this.raw.resume()
  }

  /** Has the socket take bytes when none wait. @returns how many it took */
  private writeSome(octets: Uint8Array): number {
    return this.waiting.length > 0 ? 0 : Math.max(0, this.raw.write(octets))
  }
}

/** The same as a stream, which is what the module of HTTP/1.1 reads and writes. */
export class BunStream extends Duplex {
  readonly encrypted = true
  readonly remoteAddress: string
  readonly remotePort: number
  readonly localAddress: string
  readonly localPort: number
  private readonly socket: BunSocket
  private onDrained: (() => void) | undefined
  private readonly timer: NodeJS.Timeout

  /** @param idleMs after which it ends when nothing was read or written; Bun looks after its own */
  constructor(socket: BunSocket, idleMs: number = IDLE_MS) {
    super()
    this.socket = socket
    this.timer = setTimeout(() => this.destroy(), idleMs)
    this.timer.unref()
    this.remoteAddress = socket.remoteAddress
    this.remotePort = socket.remotePort
    this.localAddress = socket.localAddress
    this.localPort = socket.localPort
  }

  /** Who is to learn what happens to the socket. */
  listener(): SocketListener {
    return {
      received: (chunk) => {
        this.timer.refresh()
        if (!this.push(chunk)) this.socket.pause()
      },
      drained: () => {
        const { onDrained } = this
        // It may write the next, and wait again.
        this.onDrained = undefined
        onDrained?.()
      },
      ended: () => void this.push(null),
      closed: () => void this.destroy(),
    }
  }

  override _read(): void {
    this.socket.resume()
  }

  override _write(chunk: Buffer, _: BufferEncoding, callback: () => void): void {
    this.timer.refresh()
    if (this.socket.write(chunk)) callback()
    else this.onDrained = callback
  }

  override _final(callback: () => void): void {
    this.socket.end()
    callback()
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    clearTimeout(this.timer)
    this.onDrained = undefined
    this.socket.destroy()
    callback(error)
  }

  /** Ends after what was written. The module of HTTP asks for this and the following. */
  destroySoon(): void {
    this.end(() => this.destroy())
  }

  /** Nobody is told of times: who is idle is ended. */
  setTimeout(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }
}
