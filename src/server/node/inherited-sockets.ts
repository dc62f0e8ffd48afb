/**
 * Sockets that systemd has opened for this process: socket activation (sd_listen_fds(3)).
 * @module
 */
import { readSocketTable, type SocketProtocol, socketInode } from './socket-table.ts'

/** A socket that waits to be used. */
export type InheritedSocket = {
  readonly fd: number
  readonly protocol: SocketProtocol
  readonly address: string
  readonly port: number
}

/** The first descriptor, and the most that are looked at. */
const FIRST_FD = 3
const SOCKETS_MAX = 256

let waiting: InheritedSocket[] | undefined

/**
 * Takes the inherited socket that is bound to an address and port; each is given out once.
 * @returns its descriptor, or `undefined` when there is none
 */
export function takeInherited(
  protocol: SocketProtocol,
  address: string,
  port: number,
): number | undefined {
  const sockets = inheritedSockets()
  const index = sockets.findIndex(
    (one) => one.protocol === protocol && one.address === address && one.port === port,
  )
  return index < 0 ? undefined : sockets.splice(index, 1)[0]?.fd
}

/** Returns the inherited sockets that nothing has taken. */
export function inheritedSockets(): InheritedSocket[] {
  waiting ??= readInherited(process.env, process.pid)
  return waiting
}

/**
 * Finds the sockets by `LISTEN_FDS` and `LISTEN_PID`. None for another process, and for
 * descriptors that are not UDP or TCP sockets.
 */
export function readInherited(
  { LISTEN_FDS, LISTEN_PID }: Readonly<Record<string, string | undefined>>,
  pid: number,
): InheritedSocket[] {
  const count = Math.min(Number(LISTEN_FDS ?? 0), SOCKETS_MAX)
  if (Number(LISTEN_PID) !== pid || !(count > 0)) return []
  const tables = { udp: readSocketTable('udp'), tcp: readSocketTable('tcp') }
  return Array.from({ length: count }, (_, i) => FIRST_FD + i).flatMap((fd) => {
    const inode = socketInode(fd)
    return (['udp', 'tcp'] as const).flatMap((protocol) => {
      const row = tables[protocol].find((one) => one.inode === inode)
      return row === undefined ? [] : [{ fd, protocol, address: row.address, port: row.port }]
    })
  })
}
