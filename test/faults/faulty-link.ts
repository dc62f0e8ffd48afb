/**
 * A TCP proxy on loopback that can fail, in front of a server that runs on.
 * @module
 */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from '../free-port.ts'

/**
 * `refused`: nothing listens. `silent`: no byte passes. `cut`: connections end within a
 * response.
 */
export type LinkState = 'up' | 'refused' | 'silent' | 'cut'

/** Bytes of a response before a cut. */
const CUT_BYTES = 200

/** The proxy. */
export class FaultyLink {
  readonly port: number
  private readonly target: number
  private readonly sockets = new Set<Socket>()
  private server: Server | undefined
  private state: LinkState = 'up'

  private constructor(port: number, target: number) {
    this.port = port
    this.target = target
  }

  /** Starts a proxy to a port. */
  static async start(target: number, state: LinkState = 'up'): Promise<FaultyLink> {
    const link = new FaultyLink(await freePort(), target)
    await link.enter(state)
    return link
  }

  /** Fails from now on in this way, or works again. Ends all connections. */
  async enter(state: LinkState): Promise<void> {
    this.state = state
    for (const socket of this.sockets) socket.destroy()
    if (state === 'refused') {
      await this.close()
      return
    }
    if (this.server !== undefined) return
    this.server = createServer((client) => this.accept(client))
    this.server.listen(this.port, '127.0.0.1')
    await once(this.server, 'listening')
  }

  /** Stops. */
  async close(): Promise<void> {
    const { server } = this
    this.server = undefined
    for (const socket of this.sockets) socket.destroy()
    if (server === undefined) return
    const closed = once(server, 'close')
    server.close()
    await closed
  }

  private accept(client: Socket): void {
    this.keep(client)
    if (this.state === 'refused') client.destroy()
    if (this.state === 'refused' || this.state === 'silent') return
    const server = this.keep(connect(this.target, '127.0.0.1'))
    client.pipe(server)
    let bytes = 0
    server.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      const cut = this.state === 'cut' && bytes > CUT_BYTES
      client.write(cut ? chunk.subarray(0, CUT_BYTES) : chunk)
      if (cut) for (const socket of [client, server]) socket.destroySoon()
    })
    server.on('close', () => client.destroySoon())
    client.on('close', () => server.destroy())
  }

  private keep(socket: Socket): Socket {
    this.sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => this.sockets.delete(socket))
    return socket
  }
}
