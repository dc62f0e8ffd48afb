/**
 * New keys of clusters and operators.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { encodeBase64url } from '../dns/bytes/base64url.ts'
import { generateKeyPair, sha256Hex } from '../snapshot/format/signature.ts'

/** Keys of a cluster: secrets of the exporter, and their public counterparts for the gateway. */
export type ClusterKeys = {
  readonly token: string
  readonly signingKey: string
  /** 64 hexadecimal digits. */
  readonly tokenSha256: string
  readonly publicKey: string
}

const TOKEN_BYTES = 32

/** Creates the token and the signing key of a cluster. */
export async function createClusterKeys(): Promise<ClusterKeys> {
  const { token, sha256 } = await createToken()
  const { privateKey, publicKey } = await generateKeyPair()
  return { token, signingKey: privateKey, tokenSha256: sha256, publicKey }
}

/** Creates a token of 256 random bits and its SHA-256 as 64 hexadecimal digits. */
export async function createToken(): Promise<{ readonly token: string; readonly sha256: string }> {
  const token = encodeBase64url(randomBytes(TOKEN_BYTES))
  return { token, sha256: await sha256Hex(new TextEncoder().encode(token)) }
}
