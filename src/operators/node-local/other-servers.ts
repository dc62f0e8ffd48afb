/**
 * Finds out whether another process serves the same addresses, as while a pod is replaced.
 * @module
 */
import { readdirSync } from 'node:fs'
import { formatAddress, parseAddress } from '../../dns/names/address.ts'
import { readSocketTable, socketInode } from '../../server/node/socket-table.ts'

/** Returns whether another process has a UDP socket at one of the addresses and the port. */
export function isServedByOthers(addresses: readonly string[], port: number): boolean {
  const parsed = addresses.map(parseAddress).filter((one) => one !== undefined)
  const wanted = new Set(parsed.map(formatAddress))
  const own = new Set(readdirSync('/proc/self/fd').map(socketInode))
  return readSocketTable('udp').some(
    (row) => row.port === port && wanted.has(row.address) && !own.has(row.inode),
  )
}

/**
 * Returns a function for whether a newer process serves the same addresses: one that came after
 * this call, and has not ended.
 * @param isServed {@link isServedByOthers}
 */
export function newerCacheDetector(isServed: () => boolean): () => boolean {
  let isNewest = isServed()
  return () => {
    const isShared = isServed()
    if (!isShared) isNewest = false
    return isShared && !isNewest
  }
}
