/**
 * Message authentication codes with Node's cryptography.
 * @module
 */
import { createHmac } from 'node:crypto'
import type { Digest } from '../../resolver/plugins/tsig/verify.ts'

/** Returns the HMAC of data with a secret (RFC 2104). */
export function hmac(digest: Digest, secret: Uint8Array, data: Uint8Array): Uint8Array {
  return new Uint8Array(createHmac(digest, secret).update(data).digest())
}
