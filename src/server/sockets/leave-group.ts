/**
 * Takes a UDP socket out of the group of sockets that share its port (SO_REUSEPORT), so that
 * another process takes over without a lost query.
 * @module
 */
import { parseAddress } from '../../dns/names/address.ts'
import { loadCFunctions } from '../node/c-functions.ts'

/** Address families of Linux, and the offset of the address in their socket addresses. */
const IPV4 = { family: 2, at: 4, bytes: 16 } as const
const IPV6 = { family: 10, at: 8, bytes: 28 } as const

/**
 * Connects the socket to its own address (connect(2)): the kernel then gives it no more datagrams
 * of clients, and keeps the queued ones, which close(2) would drop. It can still send responses.
 * Returns whether it did: not before Node 26, and on 64-bit Linux only.
 */
export function leaveGroup(fd: number, address: string, port: number): boolean {
  const binary = parseAddress(address)
  const loaded = loadCFunctions({
    connect: { return: 'i32', arguments: ['i32', 'pointer', 'u32'] },
  })
  if (binary === undefined || loaded === undefined) return false
  const { family, at, bytes } = binary.length === 4 ? IPV4 : IPV6
  const name = new Uint8Array(bytes)
  const view = new DataView(name.buffer)
  view.setUint16(0, family, true)
  view.setUint16(2, port)
  name.set(binary, at)
  return loaded.functions.connect(fd, loaded.addressOf(name), bytes) === 0
}
