/**
 * The issuer of a cluster's ServiceAccount tokens, as the exporter publishes it in the manifest: a
 * gateway that cannot reach the API server verifies these tokens by its keys.
 * @module
 */
import { isRecord } from '../../dns/bytes/unknown.ts'

/** A public key (RFC 7517 §4). */
export type PublicJwk = Readonly<Record<string, string>>

/** An issuer of tokens. */
export type TokenIssuer = {
  /** The `iss` of its tokens. */
  readonly issuer: string
  readonly keys: readonly PublicJwk[]
}

/** Most keys: an API server has one, or two while they rotate. */
const KEYS_MAX = 16
const ISSUER_MAX = 512
/** The modulus of an RSA key of 8192 bits has 1366 characters. */
const FIELD_MAX = 2048
/** Fields of public keys (RFC 7518 §6, RFC 8037 §2); a private key has others. */
const FIELDS = ['kty', 'kid', 'alg', 'use', 'n', 'e', 'crv', 'x', 'y']

/**
 * Reads an issuer and its public keys; keys of another form are left out.
 * @param issuer the `issuer` of a discovery document
 * @param keys the `keys` of a key set (RFC 7517 §5)
 * @returns `undefined` when there is no issuer, or no key
 */
export function readTokenIssuer(issuer: unknown, keys: unknown): TokenIssuer | undefined {
  if (typeof issuer !== 'string' || issuer === '' || issuer.length > ISSUER_MAX) return undefined
  if (!Array.isArray(keys) || keys.length > KEYS_MAX) return undefined
  const read = keys.map(readKey).filter((key) => key !== undefined)
  return read.length === 0 ? undefined : { issuer, keys: read }
}

function readKey(value: unknown): PublicJwk | undefined {
  if (!isRecord(value) || typeof value.kty !== 'string') return undefined
  const fields = FIELDS.flatMap((name) => {
    const { [name]: text } = value
    return text === undefined ? [] : [[name, text] as const]
  })
  const isText = ([, text]: readonly [string, unknown]): boolean =>
    typeof text === 'string' && text.length <= FIELD_MAX
  return fields.every(isText)
    ? Object.fromEntries(fields.map(([a, b]) => [a, String(b)]))
    : undefined
}
