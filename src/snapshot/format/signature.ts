/**
 * Signatures of manifests (Ed25519, RFC 8032, by Web Crypto), and SHA-256 of shards and tokens.
 * @module
 */
import { decodeBase64url, encodeBase64url } from '../../dns/bytes/base64url.ts'
import { formatHex } from '../../dns/bytes/bytes.ts'

const ALGORITHM = 'Ed25519'
const PUBLIC_KEY_BYTES = 32

/**
 * A key that verifies manifests, or several while keys rotate: then any of them does. A function
 * returns those of the moment.
 */
export type PublicKey = CryptoKey | readonly CryptoKey[] | (() => Promise<readonly CryptoKey[]>)

/** A key that signs manifests. */
export type PrivateKey = CryptoKey

/** Parses a public key, 32 bytes in base64url; `undefined` for other text. */
export async function importPublicKey(text: string): Promise<CryptoKey | undefined> {
  const bytes = decodeBase64url(text)
  if (bytes?.length !== PUBLIC_KEY_BYTES) return undefined
  return crypto.subtle.importKey('raw', new Uint8Array(bytes), ALGORITHM, true, ['verify'])
}

/** Returns the keys of the moment. */
export async function currentKeys(key: PublicKey): Promise<readonly CryptoKey[]> {
  return typeof key === 'function' ? key() : [key].flat()
}

/** Returns whether `signature`, in base64url, is valid for these bytes and one of the keys. */
export async function isSignedBy(
  key: PublicKey,
  bytes: Uint8Array,
  signature: string,
): Promise<boolean> {
  const decoded = decodeBase64url(signature)
  if (decoded === undefined) return false
  for (const one of await currentKeys(key)) {
    if (await crypto.subtle.verify(ALGORITHM, one, unshared(decoded), unshared(bytes))) return true
  }
  return false
}

/** Parses a private key, PKCS #8 in base64url; `undefined` for other text. */
export async function importPrivateKey(text: string): Promise<PrivateKey | undefined> {
  const bytes = decodeBase64url(text)
  if (bytes === undefined) return undefined
  try {
    return await crypto.subtle.importKey('pkcs8', new Uint8Array(bytes), ALGORITHM, false, ['sign'])
  } catch {
    return undefined
  }
}

/** Generates a key pair. Returns both keys as the text that the functions above parse. */
export async function generateKeyPair(): Promise<{
  readonly privateKey: string
  readonly publicKey: string
}> {
  const pair = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  if (!('privateKey' in pair)) throw new TypeError(`${ALGORITHM} keys must come in pairs`)
  return {
    privateKey: await exportKey('pkcs8', pair.privateKey),
    publicKey: await exportKey('raw', pair.publicKey),
  }
}

async function exportKey(format: 'pkcs8' | 'raw', key: CryptoKey): Promise<string> {
  const exported = await crypto.subtle.exportKey(format, key)
  if (!(exported instanceof ArrayBuffer)) throw new TypeError(`a ${format} key must be bytes`)
  return encodeBase64url(new Uint8Array(exported))
}

/** Signs bytes. Returns the signature in base64url. */
export async function signBytes(key: PrivateKey, bytes: Uint8Array): Promise<string> {
  const signature = await crypto.subtle.sign(ALGORITHM, key, unshared(bytes))
  return encodeBase64url(new Uint8Array(signature))
}

/** Returns the SHA-256 of bytes as 64 lower-case hexadecimal digits. */
export async function sha256Hex(bytes: Uint8Array): Promise<string> {
  return formatHex(new Uint8Array(await crypto.subtle.digest('SHA-256', unshared(bytes))))
}

/** Copies shared memory, which Web Crypto refuses. It makes its own copy of other memory. */
function unshared(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return isUnshared(bytes) ? bytes : new Uint8Array(bytes)
}

function isUnshared(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer
}
