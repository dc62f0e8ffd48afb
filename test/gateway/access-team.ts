/**
 * A team of Cloudflare Access: its keys, and what it signs (RFC 7519).
 * @module
 */
import { encodeBase64url } from '../../src/dns/bytes/base64url.ts'

/** The team's URL. */
export const ISSUER: string = 'https://acme.cloudflareaccess.com'
/** The application's tag. */
export const AUDIENCE: string = 'ab'.repeat(32)

/** What an assertion says. */
export type Claims = {
  readonly now?: number
  readonly email?: string
  readonly common_name?: string
  readonly issuer?: string
  readonly audience?: string
  /** An hour when left out, for ever when `undefined`. */
  readonly lifeSeconds?: number | undefined
}

/** A team. */
export type Team = {
  readonly sign: (claims: Claims) => Promise<string>
  /** Puts a new key in the place of the one before. */
  readonly rotate: () => Promise<void>
  fetch: (url: string) => Promise<Response>
  /** What was fetched. */
  readonly asked: string[]
}

type Keys = { readonly privateKey: CryptoKey; readonly publicKey: CryptoKey }

const ALGORITHM = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2048,
  publicExponent: Uint8Array.of(1, 0, 1),
}

/** Makes a team with one key. */
export async function createTeam(): Promise<Team> {
  const makeKeys = (): Promise<Keys> =>
    crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  let number = 1
  let keys = await makeKeys()
  const asked: string[] = []
  return {
    asked,
    fetch: async (url) => {
      asked.push(url)
      const { n, e } = await crypto.subtle.exportKey('jwk', keys.publicKey)
      return Response.json({ keys: [{ kid: `key-${number}`, kty: 'RSA', alg: 'RS256', n, e }] })
    },
    rotate: async () => {
      number++
      keys = await makeKeys()
    },
    sign: async (claims) => {
      const { now = 0, issuer = ISSUER, audience = AUDIENCE, email, common_name } = claims
      const issued = Math.floor(now / 1000)
      const life = 'lifeSeconds' in claims ? claims.lifeSeconds : 3600
      const payload = {
        iss: issuer,
        aud: [audience],
        iat: issued,
        ...(life !== undefined && { exp: issued + life }),
        ...(email !== undefined && { email }),
        ...(common_name !== undefined && { common_name }),
      }
      const head = { alg: 'RS256', kid: `key-${number}` }
      const text = [head, payload].map((part) => encode(JSON.stringify(part))).join('.')
      const octets = new TextEncoder().encode(text)
      const signature = await crypto.subtle.sign(ALGORITHM.name, keys.privateKey, octets)
      return `${text}.${encodeBase64url(new Uint8Array(signature))}`
    },
  }
}

function encode(text: string): string {
  return encodeBase64url(new TextEncoder().encode(text))
}
