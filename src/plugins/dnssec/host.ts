/**
 * The host of `dnssec`.
 * @module
 */
import type { Host } from '../../chain/host.ts'

/** A private key as a JSON Web Key (RFC 7517), with its public half. */
export type PrivateKey = Readonly<Record<string, string>>

/** A host that signs. */
export type DnssecHost = Host & {
  /**
   * Returns a function that signs with a private key, by a DNSSEC algorithm.
   * @throws {Error} when the key is not valid
   */
  readonly openSigner: (algorithm: number, key: PrivateKey) => (data: Uint8Array) => Uint8Array
}
