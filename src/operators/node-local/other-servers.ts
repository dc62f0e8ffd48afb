/**
 * Finds out whether another process serves the same addresses, as while a pod is replaced.
 * @module
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { endianness } from 'node:os'
import { parseAddress } from '../../dns/names/address.ts'

/** The tables of UDP sockets (proc_net_udp(5)). */
const TABLES = ['/proc/net/udp', '/proc/net/udp6']
const COLUMN = { LOCAL: 1, INODE: 9 } as const

/** Returns whether another process has a UDP socket at one of the addresses and the port. */
export function isServedByOthers(addresses: readonly string[], port: number): boolean {
  const own = ownInodes()
  return TABLES.flatMap(readLines).some((line) => {
    const columns = line.trim().split(/\s+/)
    const inode = columns[COLUMN.INODE] ?? ''
    const isOurs = addresses.some((one) => columns[COLUMN.LOCAL] === tableAddress(one, port))
    return isOurs && !own.has(inode)
  })
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

/** Formats an address as the tables do: 32-bit words in the byte order of the machine. */
export function tableAddress(
  text: string,
  port: number,
  order: 'LE' | 'BE' = endianness(),
): string {
  const bytes = Buffer.from(parseAddress(text) ?? [])
  const words = (order === 'LE' ? bytes.swap32() : bytes).toString('hex')
  return `${words}:${port.toString(16).padStart(4, '0')}`.toUpperCase()
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}

function ownInodes(): Set<string> {
  const folder = '/proc/self/fd'
  return new Set(
    readdirSync(folder).map((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${fd}`))?.[1] ?? ''
      } catch {
        return ''
      }
    }),
  )
}
