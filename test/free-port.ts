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
/** Each process has a range of its own, and takes a port again only after all others. */
const RANGES = 100
const RANGE_PORTS = 200

let taken = 0

/** Resolves with a port that is free for TCP and UDP, and that no other test gets soon. */
export async function freePort(): Promise<number> {
  for (let i = 0; i < RANGE_PORTS; i++) {
    const port = FIRST + (process.pid % RANGES) * RANGE_PORTS + (taken++ % RANGE_PORTS)
    if (await isFree(port)) return port
  }
  throw new Error('no port of this process is free')
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
