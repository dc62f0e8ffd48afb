/**
 * The kernel's tables of sockets on Linux, `/proc/net/udp` and its like (proc_net_udp(5)).
 * @module
 */
import { readFileSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { endianness } from 'node:os'
import { formatAddress } from '../../dns/names/address.ts'

/** A protocol whose sockets the kernel lists. */
export type SocketProtocol = 'udp' | 'tcp'

/** One socket of this network namespace. */
export type SocketRow = {
  readonly address: string
  readonly port: number
  readonly inode: string
  /** UDP datagrams that the kernel dropped, mostly because the receive buffer was full. */
  readonly drops: number
}

/** Reads the sockets of a protocol, IPv4 and IPv6; none where the system has no such table. */
export function readSocketTable(protocol: SocketProtocol): SocketRow[] {
  return pathsOf(protocol).flatMap((path) => {
    try {
      return [...socketRows(readFileSync(path, 'latin1'))]
    } catch {
      return []
    }
  })
}

/** As {@link readSocketTable}, while the thread does other things. */
export async function* socketsOf(protocol: SocketProtocol): AsyncGenerator<SocketRow> {
  for (const path of pathsOf(protocol)) {
    yield* socketRows(await readFile(path, 'latin1').catch(() => ''))
  }
}

/** Returns the inode of a socket of this process; `undefined` for other descriptors. */
export function socketInode(fd: number | string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1]
  } catch {
    return undefined
  }
}

/** Parses such a table; skips lines of an unknown form. */
export function* socketRows(text: string): Generator<SocketRow> {
  for (const line of text.split('\n')) {
    const columns = line.trim().split(/\s+/)
    const [, hex = '', port] =
      /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/.exec(columns[1] ?? '') ?? []
    const inode = columns[9]
    if (port === undefined || inode === undefined) continue
    const drops = Number(columns[12] ?? 0)
    const row = { address: formatHex(hex), port: Number.parseInt(port, 16), inode }
    yield { ...row, drops: Number.isSafeInteger(drops) ? drops : 0 }
  }
}

function pathsOf(protocol: SocketProtocol): readonly string[] {
  return [`/proc/net/${protocol}`, `/proc/net/${protocol}6`]
}

/** The kernel prints each 32-bit word of an address as a number in its own byte order. */
function formatHex(hex: string): string {
  const bytes = Buffer.from(hex, 'hex')
  return formatAddress(endianness() === 'LE' ? bytes.swap32() : bytes)
}
