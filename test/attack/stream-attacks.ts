/**
 * Attacks over TCP and TLS on DNS servers, each run by `attacker.ts`.
 * @module
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { frame, pipeline, query } from './wire.ts'

/** The target, the number of connections, and the duration. */
export type Connections = {
  readonly port: number
  readonly count: number
  readonly holdMs: number
  /** Number of source addresses, in 127.0.1.0/24 (default 1). */
  readonly addresses?: number
  /** What each connection sends, as hexadecimal digits. */
  readonly sends?: string
  readonly isTls?: boolean
  /** Names in the handshakes (SNI), in turn (default: none). */
  readonly serverNames?: readonly string[]
}

const SERVER_ADDRESS = '127.0.0.1'
/** Connections opened without waiting: the kernel's queue of unaccepted ones is short. */
const BURST = 50
const BURST_MS = 10
/** The same with TLS: two idle cores do about 900 handshakes a second, with those of attackers. */
const TLS_BURST_MS = 100

/** Opens connections that stay silent or send a few bytes. Returns how many the server closed. */
export async function hold(options: Connections): Promise<{ readonly closed: number }> {
  const { count, holdMs, sends = '', isTls = false } = options
  let closed = 0
  for (let i = 0; i < count; i++) {
    const socket = open(options, i)
    socket.on('close', () => closed++)
    if (sends !== '') socket.write(Buffer.from(sends, 'hex'))
    if (i % BURST === BURST - 1) await sleep(isTls ? TLS_BURST_MS : BURST_MS)
  }
  await sleep(holdMs)
  return { closed }
}

/**
 * Opens connections that send a byte at a time, of a query if there is nothing else to send.
 * Returns how many the server closed.
 */
export async function dribble(options: Connections): Promise<{ readonly closed: number }> {
  const { count, holdMs, sends } = options
  const name = 'a-name-that-is-long-enough.to-take-a-while.cluster.local'
  const message = sends === undefined ? frame(query({ name })) : Buffer.from(sends, 'hex')
  const sockets = new Set<Socket>()
  let closed = 0
  for (let i = 0; i < count; i++) {
    const socket = open(options, i)
    sockets.add(socket)
    socket.on('close', () => {
      closed++
      sockets.delete(socket)
    })
    if (i % BURST === BURST - 1) await sleep(BURST_MS)
  }
  const pauseMs = 500
  for (let at = 0; at * pauseMs < holdMs; at++) {
    for (const socket of sockets) socket.write(message.subarray(at, at + 1))
    await sleep(pauseMs)
  }
  return { closed }
}

/** Sends many queries on each connection. */
export type Pipelined = Connections & {
  /** The query name, unless `sends` is another query. */
  readonly name: string
  readonly queriesEach: number
  /** `never`, `all`, or bytes per second and connection. */
  readonly reads: 'never' | 'all' | number
}

/**
 * Sends pipelined queries, and reads all responses, none or slowly. Ends after `holdMs`, or with
 * the last response. Returns the number of received bytes.
 */
export async function pipelined(options: Pipelined): Promise<{ readonly bytes: number }> {
  const { count, holdMs, name, sends, queriesEach, reads } = options
  const message = sends === undefined ? query({ name }) : Buffer.from(sends, 'hex')
  const queries = pipeline(message, queriesEach)
  let bytes = 0
  const sockets = Array.from({ length: count }, (_, i) => {
    const socket = open(options, i)
    socket.write(queries)
    if (reads === 'all') socket.on('data', (chunk) => (bytes += chunk.length))
    return socket
  })
  if (reads === 'all') {
    const done = sockets.map((socket) => {
      socket.end()
      return new Promise((resolve) => socket.once('close', resolve))
    })
    await Promise.race([Promise.all(done), sleep(holdMs, undefined, { ref: false })])
    return { bytes }
  }
  for (let tick = 0; tick * 1000 < holdMs; tick++) {
    if (reads !== 'never') for (const one of sockets) bytes += one.read(reads)?.length ?? 0
    await sleep(1000)
  }
  return { bytes }
}

/** Connects and disconnects without a query, or without waiting for its response. */
export async function churn(options: Connections & { readonly name: string }): Promise<void> {
  const message = frame(query({ name: options.name }))
  for (let i = 0; i < options.count; i++) {
    const socket = open(options, i)
    socket.once('connect', () => {
      if (i % 3 === 0) socket.resetAndDestroy()
      else socket.end(i % 3 === 1 ? message : '')
      setTimeout(() => socket.destroy(), 1000).unref()
    })
    if (i % BURST === BURST - 1) await sleep(BURST_MS)
  }
  await sleep(options.holdMs)
}

/** Sends malformed messages; reconnects whenever the server closes. */
export async function malformed(
  options: Connections & { readonly messages: number },
): Promise<{ readonly connections: number }> {
  const { count, messages } = options
  let connections = 0
  let left = messages
  const run = async (): Promise<void> => {
    while (left > 0) {
      const socket = open(options, connections++)
      let isOpen = true
      const closed = new Promise<void>((resolve) => {
        socket.once('close', () => {
          isOpen = false
          resolve()
        })
      })
      socket.resume()
      while (isOpen && left > 0) {
        left -= 20
        const many = Buffer.concat(Array.from({ length: 20 }, () => frame(spoilt())))
        if (!socket.write(many))
          await Promise.race([new Promise((r) => socket.once('drain', r)), closed])
        await sleep(2)
      }
      socket.destroy()
    }
  }
  await Promise.all(Array.from({ length: count }, run))
  return { connections }
}

/** Returns a query with an intact header and a few bytes changed, cut or added. */
export function spoilt(): Buffer {
  const message = query({ name: 'web.shop.svc.cluster.local', udpBytes: 4096 })
  for (let changes = 1 + below(4); changes > 0; changes--) {
    message[2 + below(message.length - 2)] = below(256)
  }
  if (below(3) === 0) return message.subarray(0, 12 + below(message.length - 12))
  return below(3) === 0 ? Buffer.concat([message, Buffer.alloc(below(200), below(256))]) : message
}

function below(bound: number): number {
  return Math.floor(Math.random() * bound)
}

/** Opens connection `i`. */
export function open(options: Connections, i: number): Socket {
  const { port, addresses = 0, isTls = false, serverNames: names = [] } = options
  const localAddress = addresses > 0 ? `127.0.1.${1 + (i % addresses)}` : '127.0.0.1'
  const at = { host: SERVER_ADDRESS, port, localAddress }
  const servername = names[i % names.length] ?? ''
  const socket = isTls ? connectTls({ ...at, servername, rejectUnauthorized: false }) : connect(at)
  socket.on('error', () => undefined)
  return socket
}
