/**
 * The memory that a process may use.
 * @module
 */
import { totalmem } from 'node:os'

/** Part of a process; Bun and Deno lack the function. */
type Constrained = { readonly constrainedMemory?: (() => number) | undefined }

/** Returns the limit of the container, or what the machine has, in bytes. */
export function memoryBytes(own: Constrained = process): number {
  // No limit is 0, or a huge number.
  const limit = own.constrainedMemory?.() ?? 0
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}
