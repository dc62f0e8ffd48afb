/**
 * DNS clients on loopback, and small scripted servers.
 * @module
 */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import {
  type AddressInfo,
  connect,
  createServer,
  type Server as NetServer,
  type Socket,
} from 'node:net'
import type { TestContext } from 'vitest'
import { readUint16, toLatin1, writeUint16 } from '../../src/dns/bytes/bytes.ts'
import { nameOf } from '../../src/dns/names/name.ts'
import { TYPE } from '../../src/dns/names/rr-type.ts'
import { MessageStream } from '../../src/dns/wire/message-stream.ts'
import { FLAG } from '../../src/dns/wire/query.ts'
import { writeQuery } from '../../src/dns/wire/write-query.ts'
import type { AnswerResult } from '../../src/resolver/chain/incoming.ts'
import { localAddresses } from '../../src/server/node/local-addresses.ts'
import type { Answer, UdpAnswers } from '../../src/server/sockets/answer.ts'

/** Only failures take this long; a loaded machine may need most of it to start processes. */
const PATIENCE_MS = 60_000
/** Timers of the real clock: tests may replace the global ones. */
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis

/** Loopback addresses of this machine; some machines have no IPv6. */
export const LOOPBACKS: readonly string[] = ['127.0.0.1', '::1'].filter((address) =>
  localAddresses().includes(address),
)

/** A query for the addresses of `a.example.org`. */
export function queryWith(id: number, name = 'a.example.org'): Uint8Array {
  return writeQuery({ name: nameOf(name), type: TYPE.A, id })
}

/** Turns a query into a response without records. */
export function echo(query: Uint8Array): Uint8Array {
  const reply = query.slice()
  writeUint16(reply, 2, FLAG.QR)
  return reply
}

/**
 * Has a UDP socket answer as a function does: a size is the fast path's, all else the slow
 * one's.
 */
export function overUdp(answer: Answer): UdpAnswers {
  const waiting = new Map<string, Exclude<AnswerResult, number>[]>()
  return {
    fast: (message, client, writer) => {
      const result = answer(message, { ...client }, writer)
      if (typeof result === 'number') return result
      const key = toLatin1(message)
      waiting.set(key, [...(waiting.get(key) ?? []), result])
      return 0
    },
    slow: (message) => waiting.get(toLatin1(message))?.shift(),
  }
}

/** Prefixes a message with its length. */
export function frame(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(2 + message.length)
  writeUint16(framed, 0, message.length)
  framed.set(message, 2)
  return framed
}

/** Returns framed queries in a row, with IDs from `first` on. */
export function queries(count: number, first = 0): Uint8Array {
  const framed = Array.from({ length: count }, (_, i) => frame(queryWith(first + i)))
  return new Uint8Array(Buffer.concat(framed))
}

/** The IDs of messages. */
export function ids(messages: readonly Uint8Array[]): number[] {
  return messages.map((message) => readUint16(message, 0))
}

/** Rejects when a promise takes too long. */
export function within<T>(promise: Promise<T>, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = startTimer(() => {
      reject(new Error(`Waited in vain for ${what}`))
    }, PATIENCE_MS)
    promise.then(resolve, reject).finally(() => {
      stopTimer(timer)
    })
  })
}

/** Waits until closed connections and their timers are gone from the process. */
export async function connectionsGone(): Promise<void> {
  for (let i = 0; i < 1000; i++) {
    if (!process.getActiveResourcesInfo().includes('TCPSocketWrap')) return
    await new Promise(setImmediate)
  }
}

/** A UDP response and its source. */
export type UdpAnswer = { readonly message: Uint8Array; readonly address: string }

/** Sends datagrams from one socket; resolves with the response to the last one. */
export async function askUdp(
  address: string,
  port: number,
  ...messages: readonly Uint8Array[]
): Promise<UdpAnswer> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  const id = messages.at(-1)?.subarray(0, 2) ?? new Uint8Array(2)
  try {
    const answer = new Promise<UdpAnswer>((resolve, reject) => {
      socket.on('error', reject)
      socket.on('message', (message, remote) => {
        if (Buffer.compare(message.subarray(0, 2), id) !== 0) return
        resolve({ message: new Uint8Array(message), address: remote.address })
      })
    })
    for (const message of messages) socket.send(message, port, address)
    return await within(answer, 'a UDP answer')
  } finally {
    socket.close()
  }
}

/** A TCP connection to a server. */
export class TcpClient {
  readonly socket: Socket
  readonly received: Uint8Array[] = []
  /** Resolves when the connection is closed for any reason. */
  readonly closed: Promise<void>
  isClosed = false
  private readonly wanted: { readonly count: number; readonly resolve: () => void }[] = []

  private constructor(socket: Socket) {
    this.socket = socket
    const stream = new MessageStream((message) => {
      this.received.push(message)
      this.notify()
    })
    socket.on('data', (chunk: Uint8Array) => stream.push(chunk))
    socket.on('error', () => undefined)
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.isClosed = true
        resolve()
      })
    })
    socket.on('end', () => socket.end())
  }

  /** Connects, from the given address if any. */
  static async open(port: number, address = '127.0.0.1', from?: string): Promise<TcpClient> {
    const local = from === undefined ? {} : { localAddress: from }
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true, ...local })
    const client = new TcpClient(socket)
    await once(socket, 'connect')
    return client
  }

  /** Sends raw bytes; resolves when the kernel has accepted them. */
  send(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.socket.write(bytes, (error) => {
        if (error) reject(error)
        else resolve()
      })
    })
  }

  /** Resolves with the first `count` messages; rejects when the connection closes before. */
  async messages(count: number): Promise<Uint8Array[]> {
    const there = new Promise<void>((resolve) => {
      this.wanted.push({ count, resolve })
      this.notify()
    })
    await within(Promise.race([there, this.closed]), `${count} messages`)
    if (this.received.length >= count) return this.received.slice(0, count)
    throw new Error(`The connection closed after ${this.received.length} of ${count} messages`)
  }

  /** Resets the connection. */
  destroy(): void {
    this.socket.destroy()
  }

  private notify(): void {
    for (const { count, resolve } of this.wanted) if (this.received.length >= count) resolve()
  }
}

/** Sends a query on a new connection; false when the server closes it at once. */
export async function isServed(port: number, address?: string): Promise<boolean> {
  const client = await TcpClient.open(port, address)
  client.socket.write(frame(queryWith(1)))
  try {
    return (await client.messages(1)).length === 1
  } catch {
    return false
  } finally {
    client.destroy()
  }
}

/** Repeats `isServed` until the server has noticed closed connections. */
export async function isServedSoon(port: number): Promise<boolean> {
  for (let i = 0; i < 100; i++) if (await isServed(port)) return true
  return false
}

/** Lets a server finish its pending work: another client gets several responses. */
export async function settle(port: number): Promise<void> {
  const client = await TcpClient.open(port)
  for (let i = 1; i <= 20; i++) {
    client.socket.write(frame(queryWith(0xffff)))
    await client.messages(i)
  }
  client.destroy()
}

/** A server that runs until its test ends or closes it. */
export type FakeServer = { readonly port: number; readonly close: () => Promise<void> }

/** Starts a UDP server that sends the datagrams that `reply` returns. */
export async function fakeUdp(
  t: TestContext,
  reply: (query: Uint8Array, clientPort: number) => readonly Uint8Array[],
  address = '127.0.0.1',
): Promise<FakeServer> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  socket.on('message', (query, remote) => {
    for (const message of reply(new Uint8Array(query), remote.port)) {
      socket.send(message, remote.port, remote.address)
    }
  })
  await new Promise<void>((resolve) => {
    socket.bind(0, address, resolve)
  })
  let isClosed = false
  const close = (): Promise<void> => {
    if (isClosed) return Promise.resolve()
    isClosed = true
    return new Promise((resolve) => socket.close(() => resolve()))
  }
  t.onTestFinished(close)
  return { port: socket.address().port, close }
}

/** Starts a TCP server that calls `answer` with each query and its connection. */
export async function fakeTcp(
  t: TestContext,
  answer: (query: Uint8Array, socket: Socket) => void,
): Promise<FakeServer> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    const stream = new MessageStream((query) => {
      answer(query, socket)
    })
    socket.on('data', (chunk) => stream.push(Buffer.from(chunk)))
    socket.on('error', () => undefined)
  })
  return listening(t, server, () => {
    for (const socket of sockets) socket.destroy()
  })
}

/**
 * Has a server listen on any free port until its test ends; `disconnect` ends what is
 * connected.
 */
export async function listening(
  t: TestContext,
  server: NetServer,
  disconnect: () => void,
): Promise<FakeServer> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      disconnect()
    })
  t.onTestFinished(close)
  return { port: portOf(server.address()), close }
}

/** Returns the port of a listening server. */
export function portOf(bound: AddressInfo | string | null): number {
  if (bound === null || typeof bound === 'string') throw new TypeError('The server has no port')
  return bound.port
}
