/**
 * Bounds the bytes that a connection brings to one iteration of Bun's event loop. Without it, Bun
 * reads up to 512 KiB of a connection at once, and calls the handler for each of the 3,000 requests
 * in them, for 0.2 s. Its server has no option for that and no descriptor, so this finds the
 * listening sockets of the process. Linux with glibc only.
 * @module
 */
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'

/**
 * Bytes of the receive buffer of each connection. Linux doubles it and counts its own structures:
 * a client can send 32 KiB or more per round trip, and upload 0.6 MB/s over 50 ms.
 */
const RECEIVE_BUFFER_BYTES = 32_768

/** <asm-generic/socket.h>: the values on x64 and arm64. */
const SOL_SOCKET = 1
const SO_RCVBUF = 8
const SO_ACCEPTCONN = 30

/** The part of bun:ffi that this module uses (https://bun.com/reference/bun/ffi). */
export type BunFfi = {
  readonly dlopen: (
    library: string,
    functions: Readonly<Record<string, { readonly args: readonly string[]; returns: 'i32' }>>,
  ) => { readonly symbols: { readonly getsockopt: Get; readonly setsockopt: Set } }
}

type Get = (fd: number, level: number, name: number, value: Int32Array, size: Int32Array) => number
type Set = (fd: number, level: number, name: number, value: Int32Array, size: number) => number

/**
 * Gives future connections to the process's listening sockets a smaller receive buffer. Does
 * nothing on other systems and with other C libraries.
 * @param load loads bun:ffi
 */
export function boundReceiveBuffers(load: () => BunFfi = loadBunFfi): void {
  try {
    const { symbols } = load().dlopen('libc.so.6', {
      getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
      setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
    })
    const bytes = Int32Array.of(RECEIVE_BUFFER_BYTES)
    for (const fd of readdirSync('/proc/self/fd').map(Number)) {
      const isListening = new Int32Array(1)
      symbols.getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, isListening, Int32Array.of(4))
      if (isListening[0] === 1) symbols.setsockopt(fd, SOL_SOCKET, SO_RCVBUF, bytes, 4)
    }
  } catch {
    // The kernel's buffers stay.
  }
}

function loadBunFfi(): BunFfi {
  return createRequire(import.meta.url)('bun:ffi')
}
