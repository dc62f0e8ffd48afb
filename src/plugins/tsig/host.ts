/**
 * What `tsig` needs from its host.
 * @module
 */
import type { Host } from '../../chain/host.ts'

/** A digest algorithm for HMAC. */
export type Digest = 'sha1' | 'sha224' | 'sha256' | 'sha384' | 'sha512'

/** A host that authenticates messages. */
export type TsigHost = Host & {
  /** Returns the HMAC of data (RFC 2104). */
  readonly hmac: (digest: Digest, secret: Uint8Array, data: Uint8Array) => Uint8Array
}
