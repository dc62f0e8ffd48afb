/**
 * Asks DNS servers from many ports until standard input ends, over UDP and over new TCP
 * connections, and prints how many queries were sent and lost: `node load.ts NAME ADDRESS…`.
 * @module
 */
import { createSocket, type Socket } from 'node:dgram'
import { connect } from 'node:net'
import { parseName } from '../../src/dns/names/name.ts'
import { TYPE } from '../../src/dns/names/rr-type.ts'
import { writeQuery } from '../../src/dns/wire/write-query.ts'

const [nameText = '', ...servers] = process.argv.slice(2)
const name = parseName(nameText) ?? new Uint8Array(1)
const SOCKETS = 16
const TICK_MS = 5
/** A server takes 500 connections of one client; a busy machine must not reach that. */
const CONNECTIONS_MAX = 100
/** A query without a response for this time is lost. */
const LOST_MS = 5000

const counts = { udp: 0, tcp: 0, lostUdp: 0, lostTcp: 0 }
const waiting = new Set<string>()
let id = 0

function query(): Buffer {
  id = (id + 1) & 0xffff
  return Buffer.from(writeQuery({ name, type: TYPE.A, id }))
}

function openSockets(server: string): Socket[] {
  return Array.from({ length: SOCKETS }, (_, i) => {
    const socket = createSocket(server.includes(':') ? 'udp6' : 'udp4')
    socket.on('message', (message) => waiting.delete(`${server} ${i} ${message.readUInt16BE(0)}`))
    // A port without a server: the query counts as lost.
    socket.on('error', () => undefined)
    return socket
  })
}

function askTcp(server: string): Promise<void> {
  counts.tcp++
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host: server, port: 53, timeout: LOST_MS })
  const message = query()
  socket.on('connect', () => socket.write(Buffer.concat([Buffer.of(0, message.length), message])))
  socket.on('data', () => resolve(true))
  for (const event of ['error', 'close', 'timeout']) socket.on(event, () => resolve(false))
  return promise.then((isAnswered) => {
    socket.destroy()
    if (!isAnswered) counts.lostTcp++
  })
}

const sockets = servers.map((server) => ({ server, all: openSockets(server) }))
const pending = new Set<Promise<void>>()
let ticks = 0
const timer = setInterval(() => {
  ticks++
  for (const { server, all } of sockets) {
    for (const i of [0, 1, 2, 3].map((step) => (4 * ticks + step) % SOCKETS)) {
      const message = query()
      waiting.add(`${server} ${i} ${message.readUInt16BE(0)}`)
      counts.udp++
      all[i]?.send(message, 53, server)
    }
    if (pending.size >= CONNECTIONS_MAX) continue
    const asked = askTcp(server).finally(() => pending.delete(asked))
    pending.add(asked)
  }
}, TICK_MS)

process.stdin.resume()
process.stdin.on('end', () => {
  clearInterval(timer)
  setTimeout(async () => {
    await Promise.all(pending)
    counts.lostUdp = waiting.size
    process.stdout.write(`${JSON.stringify(counts)}\n`)
    process.exit()
  }, LOST_MS)
})
process.stdout.write('started\n')
