/**
 * Asks servers on loopback over UDP and TCP, from any of its addresses, many questions at a time.
 * @module
 */
import { createSocket, type Socket } from 'node:dgram'
import { readUint16, writeUint16 } from '../../src/dns/bytes/bytes.ts'
import { exchange } from '../../src/server/upstream/exchange.ts'

type Waiting = { readonly resolve: (reply: Uint8Array | undefined) => void; timer: NodeJS.Timeout }

/** Keeps one UDP socket for each address that it asks from: all servers see the same client. */
export class Asker {
  private readonly sockets = new Map<string, Promise<Socket>>()
  private readonly waiting = new Map<number, Waiting>()
  private id = 0

  /** Asks, and resolves with the reply, or `undefined` when none comes in time. */
  async ask(
    port: number,
    message: Uint8Array,
    how: { readonly transport: 'udp' | 'tcp'; readonly src: string; readonly timeoutMs: number },
  ): Promise<Uint8Array | undefined> {
    this.id = (this.id + 1) & 0xffff
    const { id } = this
    writeUint16(message, 0, id)
    if (how.transport === 'tcp') return askTcp(port, message, how.timeoutMs)
    const socket = await this.socketFor(how.src)
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id)
        resolve(undefined)
      }, how.timeoutMs)
      this.waiting.set(id, { resolve, timer })
      socket.send(message, port, how.src.includes(':') ? '::1' : '127.0.0.1')
    })
  }

  /** Closes all sockets. */
  async close(): Promise<void> {
    for (const socket of this.sockets.values()) (await socket).close()
  }

  private socketFor(source: string): Promise<Socket> {
    const known = this.sockets.get(source)
    if (known !== undefined) return known
    const socket = createSocket(source.includes(':') ? 'udp6' : 'udp4')
    socket.on('error', () => undefined)
    socket.on('message', (reply) => this.take(new Uint8Array(reply)))
    const bound = new Promise<Socket>((resolve) => socket.bind(0, source, () => resolve(socket)))
    this.sockets.set(source, bound)
    return bound
  }

  private take(reply: Uint8Array): void {
    if (reply.length < 12) return
    const id = readUint16(reply, 0)
    const waiting = this.waiting.get(id)
    if (waiting === undefined) return
    this.waiting.delete(id)
    clearTimeout(waiting.timer)
    waiting.resolve(reply)
  }
}

async function askTcp(
  port: number,
  message: Uint8Array,
  timeoutMs: number,
): Promise<Uint8Array | undefined> {
  const upstream = { transport: 'dns', address: '127.0.0.1', port } as const
  try {
    return await exchange(upstream, message, { protocol: 'tcp', timeoutMs })
  } catch {
    return undefined
  }
}
