/**
 * Ports for servers of tests that must know them before they listen.
 * @module
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ports that systems give to outgoing connections: such a connection could take a port
 * before its server has it, and one to a port without a server could connect to itself. Above
 * 10080, which `fetch` refuses.
 */
const FIRST = 10_100
/**
 * Each thread has a range of its own, and takes a port again only after all others. It listens on
 * the first port of its range until it ends, so that no other thread takes the range, nor a port of
 * a server that is away for a while.
 */
const RANGES = 100
const RANGE_PORTS = 200

let range: Promise<number> | undefined
let taken = 0

/** Resolves with a port that is free for TCP and UDP, and that no other test gets soon. */
export async function freePort(): Promise<number> {
  range ??= claimRange()
  const first = (await range) + 1
  for (let i = 1; i < RANGE_PORTS; i++) {
    const port = first + (taken++ % (RANGE_PORTS - 1))
    if (await isFree(port)) return port
  }
  throw new Error('no port of this thread is free')
}

/** Resolves with the first port of a range, on which this thread listens. */
async function claimRange(): Promise<number> {
  for (let i = 0; i < RANGES; i++) {
    const port = FIRST + ((process.pid + i) % RANGES) * RANGE_PORTS
    const claim = createServer().unref()
    const isOurs = await once(claim.listen(port), 'listening').catch(() => undefined)
    if (isOurs !== undefined) return port
  }
  throw new Error('no range of ports is free')
}

async function isFree(port: number): Promise<boolean> {
  const tcp = createServer()
  const udp = createSocket('udp4')
  const bound = await Promise.allSettled([
    once(tcp.listen(port), 'listening'),
    once(udp.bind(port), 'listening'),
  ])
  await new Promise<void>((resolve) => tcp.close(() => resolve()))
  await new Promise<void>((resolve) => udp.close(resolve))
  return bound.every(({ status }) => status === 'fulfilled')
}
