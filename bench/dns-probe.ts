/**
 * Asks a DNS server for one address until the response has it.
 * @module
 */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseAddress } from '../src/dns/names/address.ts'
import { nameOf } from '../src/dns/names/name.ts'
import { TYPE } from '../src/dns/names/rr-type.ts'
import { writeQuery } from '../src/dns/wire/write-query.ts'
import type { NamedAddress } from './server-cluster.ts'

const NOTHING = Buffer.alloc(0)
const LOST_MS = 20
const WAIT_MS = 120_000

/**
 * Resolves with the milliseconds until a server on the loopback address returns an address for a
 * name. Sends a query as soon as the previous one is answered; where nothing listens, every
 * millisecond. Rejects after `waitMs`.
 */
export async function msUntilAnswered(
  port: number,
  { name, address }: NamedAddress,
  waitMs: number = WAIT_MS,
): Promise<number> {
  const startMs = performance.now()
  const socket = createSocket('udp4')
  socket.on('error', () => undefined)
  await new Promise<void>((resolve) => socket.connect(port, '127.0.0.1', () => resolve()))
  const message = writeQuery({ name: nameOf(name), type: TYPE.A })
  const wanted = Buffer.from(parseAddress(address) ?? [])
  try {
    while (!(await exchange(socket, message)).subarray(message.length).includes(wanted)) {
      if (performance.now() - startMs > waitMs) throw new Error(`no ${address} for ${name}`)
    }
    return performance.now() - startMs
  } finally {
    socket.close()
  }
}

async function exchange(socket: Socket, message: Uint8Array): Promise<Buffer> {
  const ended = new AbortController()
  const answered = once(socket, 'message', { signal: ended.signal }).then(bufferOf, () => NOTHING)
  const lost = sleep(LOST_MS, NOTHING, ended).catch(() => NOTHING)
  socket.send(message)
  const response = await Promise.race([answered, lost])
  ended.abort()
  // `once` ends with the error of a port that nothing listens on.
  if (response.length === 0) await sleep(1)
  return response
}

function bufferOf([response]: readonly unknown[]): Buffer {
  return Buffer.isBuffer(response) ? response : NOTHING
}
