/**
 * Replies that are signed as a whole.
 * @module
 */
import type { Seal } from './plugin.ts'

/** Signs a message where it is to be signed. */
export function sealed(message: Uint8Array, seal: Seal | undefined): Uint8Array {
  return seal === undefined ? message : seal.add(message)
}
