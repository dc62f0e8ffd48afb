/**
 * The key by which a gateway signs the tokens that it gives in exchange for those of issuers.
 * @module
 */
import { decodeBase64url } from '../../dns/bytes/base64url.ts'

/** A key to sign with, and its public half. */
export type ExchangeKey = {
  readonly sign: CryptoKey
  readonly jwk: Readonly<Record<string, string>> & { readonly kid: string }
}

/** Parses an Ed25519 key, PKCS #8 in base64url; `undefined` for other text. */
export async function readExchangeKey(text: string): Promise<ExchangeKey | undefined> {
  const bytes = decodeBase64url(text)
  if (bytes === undefined) return undefined
  try {
    const pkcs8 = new Uint8Array(bytes)
    const sign = await crypto.subtle.importKey('pkcs8', pkcs8, 'Ed25519', true, ['sign'])
    const exported = await crypto.subtle.exportKey('jwk', sign)
    if (exported instanceof ArrayBuffer) return undefined
    const { x = '' } = exported
    return { sign, jwk: { kty: 'OKP', crv: 'Ed25519', x, kid: x.slice(0, 8), alg: 'EdDSA' } }
  } catch {
    return undefined
  }
}
