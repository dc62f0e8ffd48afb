/**
 * Gives a socket the ends that a PROXY header names, for all that reads its addresses later.
 * @module
 */
import type { Socket } from 'node:net'
import { recordOf } from '../../dns/bytes/unknown.ts'
import { hasIPv6Form } from '../../dns/names/address.ts'
import type { ProxiedEnds } from '../../dns/wire/proxy-header.ts'

/** What Node's handles fill (lib/net.js, `getpeername`). */
type Filled = { address?: string; port?: number; family?: string }

/**
 * Replaces the addresses and ports of a socket. A TLS socket over it reads them from its handle,
 * for which Node has no public API. A load balancer may open several connections for one of a
 * client: `remoteFamily` also has its own address and port, so that no two sockets have the same.
 */
export function setEnds(
  socket: Socket,
  { address, port, localAddress, localPort }: ProxiedEnds,
): void {
  const remoteFamily = `${familyOf(address)} by ${socket.remoteAddress} ${socket.remotePort}`
  const ends = { remoteAddress: address, remotePort: port, remoteFamily, localAddress, localPort }
  for (const [name, value] of Object.entries(ends)) Object.defineProperty(socket, name, { value })
  const handle = recordOf(Reflect.get(socket, '_handle'))
  Object.assign(handle, {
    getpeername: fillerOf({ address, port, family: remoteFamily }),
    getsockname: fillerOf({
      address: localAddress,
      port: localPort,
      family: familyOf(localAddress),
    }),
  })
}

function fillerOf(ends: Filled): (into: Filled) => number {
  return (into) => {
    Object.assign(into, ends)
    return 0
  }
}

function familyOf(address: string): 'IPv4' | 'IPv6' {
  return hasIPv6Form(address) ? 'IPv6' : 'IPv4'
}
