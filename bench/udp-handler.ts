/**
 * What a DNS server does for a datagram, from the socket's event to the socket's `send`: the
 * listener that the server puts on its socket is called, and what it sends is counted.
 *
 * No entry point is named here, so nothing can be measured that a server does not do.
 * @module
 */

import { createSocket, type RemoteInfo, Socket } from 'node:dgram'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Metrics } from '../src/dns/telemetry/metrics.ts'
import type { Resolver } from '../src/resolver/chain/resolver.ts'
import { DnsServer } from '../src/server/serve/dns-server.ts'

type Handler = (message: Uint8Array, remote: RemoteInfo) => void

/** Every datagram comes from here. */
const REMOTE: RemoteInfo = { address: '127.0.0.1', family: 'IPv4', port: 40_000, size: 0 }

/** A DNS server on loopback whose UDP socket sends nothing. */
export class UdpHandler {
  private readonly server: DnsServer
  private readonly receive: Handler
  /** Responses that were sent. */
  sentCount = 0
  /** Bytes of the last one. */
  sentBytes = 0

  private constructor(server: DnsServer, socket: Socket) {
    this.server = server
    const [receive, ...others] = socket.listeners('message')
    if (!isHandler(receive) || others.length > 0) throw new TypeError('Not one handler')
    this.receive = receive
    // Six arguments: what a server has copied beforehand comes with fewer, and is an error here.
    const send = (
      _bytes: Uint8Array,
      _start: number,
      size: number,
      _port: number,
      _address: string,
      sent: () => void,
    ): void => {
      this.sentBytes = size
      this.sentCount++
      sent()
    }
    Object.assign(socket, { send })
  }

  /** Serves a resolver whose Corefile binds one address. */
  static async start(resolver: Resolver, metrics: Metrics): Promise<UdpHandler> {
    // Messages do not come from the network here: looking for more of them there costs a system
    // call.
    process.env.KUBEDOH_UDP_BATCHES = '0'
    const sockets: Socket[] = []
    const keep = (message: unknown): void => {
      if (hasSocket(message)) sockets.push(message.socket)
    }
    subscribe('udp.socket', keep)
    const server = new DnsServer(metrics)
    await server.serve(resolver)
    unsubscribe('udp.socket', keep)
    // Plugins start, and open sockets, after the server has opened its own.
    const [socket] = sockets
    if (socket === undefined) throw new TypeError('The server has no UDP socket')
    return new UdpHandler(server, socket)
  }

  /** Has each message answered. @throws {Error} when one gets no response at once */
  receiveAll(messages: readonly Uint8Array[]): void {
    const { receive } = this
    const expected = this.sentCount + messages.length
    for (let i = 0; i < messages.length; i++) {
      const message = messages[i]
      if (message !== undefined) receive(message, REMOTE)
    }
    if (this.sentCount !== expected) throw new Error('Not every query got a response at once')
  }

  /** Ends the server. */
  async stop(): Promise<void> {
    await this.server.close()
  }
}

/**
 * Receives datagrams and answers each with one of the same size, by node:dgram and nothing
 * else.
 */
export async function passDatagrams(count: number, size: number): Promise<void> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const bytes = new Uint8Array(size)
  const sent = (): void => undefined
  const { address, port } = socket.address()
  let left = count
  const done = new Promise<void>((resolve) => {
    socket.on('message', (_, from) => {
      if (left-- === 0) resolve()
      else socket.send(bytes, 0, size, from.port, from.address, sent)
    })
  })
  socket.send(bytes, 0, size, port, address, sent)
  await done
  await new Promise<void>((resolve) => socket.close(resolve))
}

function isHandler(listener: unknown): listener is Handler {
  return typeof listener === 'function'
}

function hasSocket(message: unknown): message is { readonly socket: Socket } {
  return typeof message === 'object' && message !== null && 'socket' in message
    ? message.socket instanceof Socket
    : false
}
