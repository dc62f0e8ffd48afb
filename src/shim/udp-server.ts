/**
 * Answers over UDP. One socket an address, so that replies leave from the address that was asked
 * (RFC 2181 §4.1).
 * @module
 */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import type { Client, MaybePromise } from '../plugins/plugin.ts'

/** Answers a message; `undefined` for no answer. */
export type Answer = (message: Uint8Array, client: Client) => MaybePromise<Uint8Array | undefined>

/** Octets the system may hold for us while we are busy. */
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024

/** A UDP socket that answers. */
export class UdpServer {
  private readonly socket: Socket
  private readonly answer: () => Answer
  private readonly localAddress: string
  private localPort = 0

  /**
   * @param answer gives the function to answer with at the time of each message
   * @param knownAs the address that was to be listened on, where this is one of those it stands for
   * @param sharesPort whether other processes have sockets like it; the system chooses among them
   */
  constructor(
    address: string,
    answer: () => Answer,
    { knownAs = address, sharesPort = false }: { knownAs?: string; sharesPort?: boolean } = {},
  ) {
    this.answer = answer
    this.localAddress = knownAs
    const reusePort = sharesPort
    this.socket = address.includes(':')
      ? createSocket({ type: 'udp6', ipv6Only: true, reusePort })
      : createSocket({ type: 'udp4', reusePort })
    this.socket.on('message', (message, remote) => {
      this.receive(message, remote)
    })
  }

  /** Begins to listen. @returns the port @throws {Error} when the address is taken */
  listen(address: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        this.socket.close()
        reject(error)
      }
      this.socket.once('error', fail)
      this.socket.bind({ address, port }, () => {
        this.socket.off('error', fail)
        // What the network reports of clients that are gone concerns nobody else.
        this.socket.on('error', () => undefined)
        this.enlargeBuffer()
        this.localPort = this.socket.address().port
        resolve(this.localPort)
      })
    })
  }

  /** Ends; queries under way get no answer. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.socket.close(() => {
        resolve()
      })
    })
  }

  private receive(message: Uint8Array, { address, port }: RemoteInfo): void {
    if (port === 0) return
    const { localAddress, localPort } = this
    const client = { address, port, transport: 'udp', localAddress, localPort } as const
    const reply = this.answer()(message, client)
    if (reply instanceof Promise) {
      void reply.then((later) => {
        this.send(later, address, port)
      })
    } else this.send(reply, address, port)
  }

  private send(reply: Uint8Array | undefined, address: string, port: number): void {
    if (reply === undefined) return
    try {
      this.socket.send(reply, port, address, () => undefined)
    } catch {
      // The socket was closed while the answer was on its way.
    }
  }

  private enlargeBuffer(): void {
    try {
      this.socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES)
    } catch {
      // Some systems allow no more than they gave; queries are then lost a little earlier.
    }
  }
}
