/**
 * Functions of the C library, called through Node's foreign function interface. 64-bit Linux only.
 * @module
 */
import type * as ffi from 'node:ffi'
import { createRequire } from 'node:module'
import { endianness } from 'node:os'

/** Loaded functions, by name. */
export type CFunctions<T extends ffi.FunctionDefinitions> = {
  readonly functions: ffi.DynamicLibraryResult<T>['functions']
  /** Returns the address of a buffer. Keep the buffer reachable while the kernel may use it. */
  readonly addressOf: (buffer: Int32Array | Uint8Array) => bigint
}

/**
 * Loads functions by their types. Returns `undefined` before Node 26, on other runtimes and
 * systems, and when the C library lacks one (musl).
 */
export function loadCFunctions<const T extends ffi.FunctionDefinitions>(
  definitions: T,
): CFunctions<T> | undefined {
  const { platform, arch, emitWarning } = process
  const isKnown = platform === 'linux' && ['x64', 'arm64'].includes(arch) && endianness() === 'LE'
  if (!isKnown) return undefined
  // Suppresses the warning that the interface is experimental, which would be the log's first line.
  process.emitWarning = () => undefined
  try {
    const { dlopen, getRawPointer }: typeof ffi = createRequire(import.meta.url)('node:ffi')
    return { functions: dlopen(null, definitions).functions, addressOf: getRawPointer }
  } catch {
    return undefined
  } finally {
    process.emitWarning = emitWarning
  }
}
