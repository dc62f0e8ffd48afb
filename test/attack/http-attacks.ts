/**
 * Attacks over HTTP/1.1, TLS and TCP, each run by `attacker.ts`.
 * @module
 */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { spoilt } from './stream-attacks.ts'

/**
 * How attackers open TLS connections: 500 a second. A handshake takes 1.1 ms of the program
 * and as much of the attacker, so two idle cores can do about 900 a second.
 */
export const OPENED_AT_ONCE = 20
export const OPENING_PAUSE_MS = 40

/** Where to attack, with how many connections, and for how long. */
export type Attack = {
  readonly port: number
  readonly count: number
  readonly holdMs: number
  /** Number of source addresses, in 127.0.1.0/24. */
  readonly addresses: number
  /** Whether the server speaks plain HTTP. */
  readonly isPlain?: boolean
}

/** The result of an attack. */
export type Tally = {
  readonly connections: number
  readonly closed: number
  readonly bytes?: number
}

/** Opens a connection of attacker `i`, over TLS unless the server has none. */
export function openTls(
  { port, addresses, isPlain = false }: Attack,
  i: number,
  ALPNProtocols: string[],
): Socket {
  const at = { host: '127.0.0.1', port, localAddress: `127.0.1.${1 + (i % addresses)}` }
  const socket = isPlain
    ? connect(at)
    : connectTls({ ...at, ALPNProtocols, rejectUnauthorized: false })
  socket.on('error', () => undefined)
  return socket
}

/**
 * Keeps `count` connections at sending until the time is over.
 * @param start starts a connection; returns a function that returns the next bytes to send
 */
export async function flood(
  attack: Attack,
  start: (socket: Socket, index: number) => () => Buffer,
): Promise<Tally> {
  const endMs = Date.now() + attack.holdMs
  const tally = { connections: 0, closed: 0, bytes: 0 }
  const run = async (index: number): Promise<void> => {
    while (Date.now() < endMs) {
      const socket = openTls(attack, index, ['h2'])
      tally.connections++
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
      const next = start(socket, index)
      while (Date.now() < endMs && !socket.destroyed && socket.writable) {
        const bytes = next()
        tally.bytes += bytes.length
        const isTaken = socket.write(bytes)
        if (isTaken) await sleep(2)
        else {
          const abort = new AbortController()
          const { signal } = abort
          const drained = once(socket, 'drain', { signal }).catch(() => undefined)
          const late = sleep(Math.max(1, endMs - Date.now()), undefined, { signal })
          await Promise.race([drained, closed, late.catch(() => undefined)])
          abort.abort()
        }
      }
      if (socket.destroyed) tally.closed++
      socket.destroy()
      await sleep(20)
    }
  }
  await Promise.all(Array.from({ length: attack.count }, (_, index) => run(index)))
  return tally
}

/** A slow HTTP/1.1 request. */
export type Slow = Attack & {
  /** Sent at once; the rest follows a byte at a time. */
  readonly first: string
  readonly pauseMs: number
}

/** Opens HTTP/1.1 connections that send a part of a request, then single bytes. */
export async function slowRequests(attack: Slow): Promise<Tally> {
  const tally = { connections: 0, closed: 0 }
  const sockets = new Set<Socket>()
  for (let i = 0; i < attack.count; i++) {
    const socket = openTls(attack, i, ['http/1.1'])
    sockets.add(socket)
    tally.connections++
    socket.resume()
    socket.on('close', () => {
      sockets.delete(socket)
      tally.closed++
    })
    socket.write(attack.first)
    if (i % OPENED_AT_ONCE === OPENED_AT_ONCE - 1) await sleep(OPENING_PAUSE_MS)
  }
  const endMs = Date.now() + attack.holdMs
  while (Date.now() < endMs) {
    for (const socket of sockets) socket.write('x')
    await sleep(attack.pauseMs)
  }
  return tally
}

/** Sends pipelined HTTP/1.1 requests and never reads. */
export async function unreadPipelines(
  attack: Attack & { readonly request: string; readonly requestsEach: number },
): Promise<Tally> {
  const tally = { connections: 0, closed: 0 }
  const all = attack.request.repeat(attack.requestsEach)
  for (let i = 0; i < attack.count; i++) {
    const socket = openTls(attack, i, ['http/1.1'])
    tally.connections++
    socket.on('close', () => tally.closed++)
    socket.write(all)
    if (i % OPENED_AT_ONCE === OPENED_AT_ONCE - 1) await sleep(OPENING_PAUSE_MS)
  }
  await sleep(attack.holdMs)
  return tally
}

/**
 * Sends requests over HTTP/1.1 without end, one after the other on each of `count` connections.
 * Returns how many had each status.
 * @param path where to send them; `#` stands for a number that no other request has
 */
export async function endlessRequests(
  attack: Attack & { readonly path: string; readonly headers: Readonly<Record<string, string>> },
): Promise<Readonly<Record<string, number>>> {
  const { port, count, holdMs, path, headers } = attack
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false })
  const statuses: Record<string, number> = {}
  const endMs = Date.now() + holdMs
  let sent = 0
  const run = async (_: unknown, index: number): Promise<void> => {
    await sleep(Math.floor(index / OPENED_AT_ONCE) * OPENING_PAUSE_MS)
    while (Date.now() < endMs) {
      const where = { port, path: path.replace('#', String(sent++)), headers, agent }
      const asked = request({ host: '127.0.0.1', ...where }).end()
      const [response]: IncomingMessage[] = await once(asked, 'response')
      const status = String(response?.statusCode)
      statuses[status] = (statuses[status] ?? 0) + 1
      await response?.resume().toArray()
    }
  }
  await Promise.all(Array.from({ length: count }, run))
  agent.destroy()
  return statuses
}

/** Posts malformed messages over HTTP/1.1; reconnects whenever the server closes. */
export function malformedMessages(
  attack: Attack & { readonly headers: string; readonly path: string },
): Promise<Tally> {
  const { path, headers } = attack
  return flood(attack, (socket) => {
    socket.resume()
    return () => {
      const requests = Array.from({ length: 5 }, () => {
        const body = spoilt()
        const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Content-Length: ${body.length}\r\n`
        return [`${head}Content-Type: application/dns-message\r\n\r\n`, body]
      })
      return Buffer.concat(requests.flat().map((one) => Buffer.from(one)))
    }
  })
}
