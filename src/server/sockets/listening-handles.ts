/**
 * Several handles for one listening socket. libuv accepts one connection per handle and iteration
 * of the event loop, so that other clients wait in the kernel's queue behind a burst of connections
 * with expensive requests. 64-bit Linux with Node 26 only.
 *
 * `npm run test:attack` needs it in the row "HTTP/1.1: 100 requests each, responses never read":
 * p99 of other clients is 0.09 s with it, 0.7 to 1.5 s without.
 * @module
 */
import type { Server } from 'node:net'
import { recordOf } from '../../dns/bytes/unknown.ts'
import { loadCFunctions } from '../node/c-functions.ts'

/**
 * Handles beside the first one. Each costs a call that finds no connection when a single one
 * arrives, a microsecond beside the millisecond of its handshake.
 */
const MORE_HANDLES = 7
/** Duplicates a descriptor that child processes do not inherit: <linux/fcntl.h>, x64 and arm64. */
const F_DUPFD_CLOEXEC = 1030

let duplicate: ((fd: number) => number) | undefined

/**
 * Listens on the socket of a listener with several more servers.
 * @param create returns a server that handles connections as the listener does
 * @returns these servers; none where Node cannot
 */
export function listenOnMoreHandles(listener: Server, create: () => Server): readonly Server[] {
  duplicate ??= load()
  // Node has no public API for the descriptor of a socket.
  const { fd } = recordOf(Reflect.get(listener, '_handle'))
  const servers: Server[] = []
  for (let i = 0; i < MORE_HANDLES && typeof fd === 'number'; i++) {
    const copy = duplicate(fd)
    if (copy < 0) break
    // Another process that accepts first, or a full table of descriptors, concerns one connection.
    servers.push(
      create()
        .on('error', () => undefined)
        .listen({ fd: copy }),
    )
  }
  return servers
}

function load(): (fd: number) => number {
  const found = loadCFunctions({ fcntl: { return: 'i32', arguments: ['i32', 'i32', 'i32'] } })
  return found === undefined ? () => -1 : (fd) => found.functions.fcntl(fd, F_DUPFD_CLOEXEC, 0)
}
