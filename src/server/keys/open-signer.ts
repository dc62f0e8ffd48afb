/**
 * Signing with private keys and Node's cryptography.
 * @module
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { ALGORITHM } from '../../dns/rdata/dnssec-algorithm.ts'
import type { SigningKeys } from '../../resolver/plugins/dnssec/key-file.ts'

/** Digests by algorithm; `null` signs the bytes themselves (RFC 8080 §4). */
const DIGESTS: ReadonlyMap<number, string | null> = new Map([
  [ALGORITHM.RSASHA1, 'sha1'],
  [ALGORITHM['RSASHA1-NSEC3-SHA1'], 'sha1'],
  [ALGORITHM.RSASHA256, 'sha256'],
  [ALGORITHM.RSASHA512, 'sha512'],
  [ALGORITHM.ECDSAP256SHA256, 'sha256'],
  [ALGORITHM.ECDSAP384SHA384, 'sha384'],
  [ALGORITHM.ED25519, null],
])
/** Public fields of JSON Web Keys (RFC 7518 §6, RFC 8037 §2). */
const PUBLIC: ReadonlySet<string> = new Set(['kty', 'crv', 'x', 'y', 'n', 'e'])
const TRIAL = new Uint8Array(32)

/**
 * Opens a private key and returns a function that signs in DNSSEC's formats: for ECDSA, r and s
 * concatenated (RFC 6605 §4).
 * @throws {Error} for an invalid key, and if the private and public parts do not match
 */
export function openSigner(algorithm: number, key: SigningKeys): (data: Uint8Array) => Uint8Array {
  const digest = DIGESTS.get(algorithm)
  if (digest === undefined) throw new RangeError(`Cannot sign with algorithm ${algorithm}`)
  const secret = plain(createPrivateKey({ key: { ...key }, format: 'jwk' }))
  const known = plain(createPublicKey({ key: publicHalf(key), format: 'jwk' }))
  if (!verify(digest, TRIAL, known, sign(digest, TRIAL, secret))) {
    throw new RangeError('the private key does not match the public key')
  }
  return (data) => new Uint8Array(sign(digest, data, secret))
}

function publicHalf(key: SigningKeys): SigningKeys {
  return Object.fromEntries(Object.entries(key).filter(([name]) => PUBLIC.has(name)))
}

function plain(key: KeyObject): { key: KeyObject; dsaEncoding: 'ieee-p1363' } {
  return { key, dsaEncoding: 'ieee-p1363' }
}
