/**
 * `recvmmsg` and `sendmmsg` of the C library (recvmmsg(2)). Linux only.
 * @module
 */
import { loadCFunctions } from '../node/c-functions.ts'

/**
 * Receives into or sends from an array of `struct mmsghdr` at an address. Returns the number of
 * messages, or -1 for any error: the interface hides errno.
 */
export type Mmsg = {
  readonly receive: (fd: number, headers: bigint, count: number) => number
  readonly send: (fd: number, headers: bigint, count: number) => number
  /** Returns the address of a buffer. Keep the buffer reachable while the kernel may use it. */
  readonly addressOf: (buffer: Int32Array | Uint8Array) => bigint
}

const MSG_DONTWAIT = 0x40

let loaded: { readonly mmsg: Mmsg | undefined } | undefined

/**
 * Returns the two functions, loaded once per process; `undefined` before Node 26, on systems other
 * than 64-bit Linux, and while KUBEDOH_UDP_BATCHES is 0.
 */
export function openMmsg(): Mmsg | undefined {
  if (process.env.KUBEDOH_UDP_BATCHES === '0') return undefined
  loaded ??= { mmsg: load() }
  return loaded.mmsg
}

function load(): Mmsg | undefined {
  if (process.env.KUBEDOH_UDP_BATCHES === '0') return undefined
  const found = loadCFunctions({
    recvmmsg: { return: 'i32', arguments: ['i32', 'pointer', 'u32', 'i32', 'pointer'] },
    sendmmsg: { return: 'i32', arguments: ['i32', 'pointer', 'u32', 'i32'] },
  })
  if (found === undefined) return undefined
  const { recvmmsg, sendmmsg } = found.functions
  return {
    receive: (fd, headers, count) => recvmmsg(fd, headers, count, MSG_DONTWAIT, 0n),
    send: (fd, headers, count) => sendmmsg(fd, headers, count, MSG_DONTWAIT),
    addressOf: found.addressOf,
  }
}
