/**
 * Client tokens, and the records that the gateway keeps of them.
 *
 * A token reads `kdt_ID_SECRET`. The identifier finds the record and is not secret. The store keeps
 * only the SHA-256 of the whole text, and of its form for hostnames, so reading the store does not
 * allow queries.
 * @module
 */
import { encodeBase64url } from '../../dns/bytes/base64url.ts'
import { asWordBytes, formatHex } from '../../dns/bytes/bytes.ts'
import { formatName, parseName } from '../../dns/names/name.ts'
import { endsIn, type Query } from '../../dns/wire/query.ts'
import type { ClientVisibility } from '../../resolver/contract/client.ts'
import { sha256Hex } from '../../snapshot/format/signature.ts'
import { Visibility } from '../../snapshot/read/visibility.ts'
import type { TokenRole } from '../config/issuers.ts'
import { matcherOf } from '../config/text-pattern.ts'
import type { TokenScope } from '../config/token-scope.ts'

/** Most secrets of a token. */
export const SECRETS_MAX = 4
/** Before a subject in the identity of the record that revokes it. */
const REVOKED = 'revoked:'

/** One secret of a token; a rotated token has several for a while. */
export type TokenSecret = {
  /** SHA-256 of the whole token, 64 hexadecimal digits. */
  readonly sha256: string
  /** The same of its form for hostnames; without it, the token has no such form. */
  readonly hostSha256?: string
  /** When it expires, in milliseconds since 1970; `undefined` with the token. */
  readonly expiresMs: number | undefined
}

/** The record of a token. */
export type TokenRecord = {
  readonly id: string
  /** A label for the operator. */
  readonly name: string
  readonly scope: TokenScope
  /** Identities that replace the secret: `cert:SHA256` of a certificate, `access:WHO` of Access. */
  readonly identities: readonly string[]
  /** The newest last. */
  readonly secrets: readonly TokenSecret[]
  /** Milliseconds since 1970. */
  readonly createdMs: number
  /** Milliseconds since 1970; `undefined` for never. */
  readonly expiresMs: number | undefined
  /** The person with the role `issuer` who created it; an administrator when left out. */
  readonly by?: string
  /** What its holder may do below `/v1`; nothing, as a client, when left out. */
  readonly role?: TokenRole
  /** Day of the last use (UTC), in days since 1970; never used when left out. */
  readonly usedDay?: number
}

/**
 * Returns the identity of the record by which an operator revokes a client that an issuer
 * knows.
 */
export function revocationOf(subject: string): string {
  return REVOKED + subject
}

/** An issuer's URL, a space, and its name for the client. */
export const REVOKED_SUBJECT: RegExp = /^[!-~]{1,512} [^\p{Cc}]{1,255}$/u

/** Returns whether a record only revokes a client that an issuer knows: it lets nobody in. */
export function isRevocation({ scope, identities, secrets }: TokenRecord): boolean {
  const [identity = '', ...others] = identities
  const subject = identity.startsWith(REVOKED) ? identity.slice(REVOKED.length) : ''
  const sees = [...scope.clusters, ...scope.origins, ...scope.namespaces]
  const isNothing = sees.length + secrets.length + others.length === 0 && !scope.recurse
  return isNothing && scope.explain !== true && REVOKED_SUBJECT.test(subject)
}

/** Digits of base 32, without the letters that are read as others: i, l, o, u (Crockford's). */
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'
const SECRET_DIGITS = 23
const SECRET_BITS = 5 * SECRET_DIGITS
const HOST_FORM = /^[0-9a-hjkmnp-tv-z]{26}$/
/** Before the token in what is hashed. */
const HOST_PURPOSE = 'kubedoh host token 1:'
/** CRC-15 (ISO 11898-1): finds each wrong letter, and each pair of swapped neighbours. */
const POLYNOMIAL = 0x4599
const TOP_BIT = 0x4000
const MASK = 0x7fff
/** Milliseconds of a day. */
export const DAY_MS: number = 24 * 3600 * 1000
const ID_BYTES = 6
const SECRET_BYTES = 32
const TOKEN = /^kdt_([0-9a-f]{12})_[\w-]{43}$/

/** Returns the identifier in a token; `undefined` for text of another form. */
export function tokenId(text: string): string | undefined {
  return TOKEN.exec(text)?.[1]
}

/** Returns `size` unpredictable bytes. */
export type RandomBytes = (size: number) => Uint8Array

/** Creates a random identifier. */
export function newTokenId(randomBytes: RandomBytes): string {
  return formatHex(randomBytes(ID_BYTES))
}

/** A new token: its text, that for hostnames, and the hashes of both. */
type NewSecret = {
  readonly token: string
  readonly hostToken: string
  readonly sha256: string
  readonly hostSha256: string
}

/** Creates the text of a token, with a secret of 256 bits, and its hashes. */
export async function newSecret(id: string, randomBytes: RandomBytes): Promise<NewSecret> {
  const token = `kdt_${id}_${encodeBase64url(randomBytes(SECRET_BYTES))}`
  const hostToken = await hostTokenOf(token)
  const [sha256, hostSha256] = [await hashToken(token), await hashToken(hostToken)]
  return { token, hostToken, sha256, hostSha256 }
}

/**
 * Returns the form of a token that fits into a hostname, for clients that have a name only, such as
 * those of DNS over TLS: 26 letters and digits.
 *
 * It is 115 bits of a SHA-256 of the token, and a checksum. So the holder of a token can compute
 * it, but who sees a hostname (resolvers, and observers of TLS handshakes, which have it in the
 * clear) does not get the token itself.
 */
export async function hostTokenOf(token: string): Promise<string> {
  const hash = BigInt(`0x${await sha256Hex(new TextEncoder().encode(HOST_PURPOSE + token))}`)
  const plain = BigInt.asUintN(SECRET_BITS, hash).toString(32).padStart(SECRET_DIGITS, '0')
  const secret = [...plain].map((digit) => DIGITS[Number.parseInt(digit, 32)]).join('')
  return secret + checksum(secret)
}

/** Returns whether a text has the form, in lower case, and the checksum. */
export function isHostToken(text: string): boolean {
  return (
    HOST_FORM.test(text) && checksum(text.slice(0, SECRET_DIGITS)) === text.slice(SECRET_DIGITS)
  )
}

function checksum(secret: string): string {
  // The first bits count, too: the register does not begin with 0.
  let crc = 1
  for (const digit of secret) {
    crc ^= DIGITS.indexOf(digit) << 10
    for (let bit = 0; bit < 5; bit++) {
      crc = ((crc << 1) ^ ((crc & TOP_BIT) === 0 ? 0 : POLYNOMIAL)) & MASK
    }
  }
  return [crc >> 10, (crc >> 5) & 31, crc & 31].map((value) => DIGITS[value]).join('')
}

/** Returns the SHA-256 of a token's text, 64 hexadecimal digits. */
export function hashToken(token: string): Promise<string> {
  return sha256Hex(new TextEncoder().encode(token))
}

/** Returns whether a token has a hash. Compares hashes in constant time. */
export async function hasHash(token: string, sha256: string): Promise<boolean> {
  return equalSecrets(await hashToken(token), sha256)
}

/** Returns whether a token or secret has not expired. */
export function isAlive(
  { expiresMs }: { readonly expiresMs: number | undefined },
  nowMs: number,
): boolean {
  return expiresMs === undefined || nowMs < expiresMs
}

/** Returns whether a scope depends on the labels of namespaces. */
export function usesLabels({ namespaces }: TokenScope): boolean {
  return !namespaces.includes('*') && namespaces.some((pattern) => pattern.includes('='))
}

/** Returns a function that matches a namespace by its name and labels (`key=value`). */
export function namespaceMatcherOf(
  patterns: readonly string[],
): (name: string, labels: readonly string[]) => boolean {
  const wholes = patterns.map((pattern) =>
    pattern.split('&').map((part) => ({ fits: matcherOf([part]), isLabel: part.includes('=') })),
  )
  return (name, labels) =>
    wholes.some((parts) =>
      parts.every(({ fits, isLabel }) => (isLabel ? labels.some(fits) : fits(name))),
    )
}

/** Compares two texts of equal length in constant time. */
export function equalSecrets(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

/** Returns the visibility of a scope. */
export function visibilityOf(scope: TokenScope): ClientVisibility {
  const seesCluster = matcherOf(scope.clusters)
  const seesName = matcherOf(scope.origins)
  const fits = namespaceMatcherOf(scope.namespaces)
  const known = new Map<Uint8Array, Map<string | undefined, boolean>>()
  return {
    id: JSON.stringify(scope),
    seesOrigin: (cluster, origin) => {
      // Origins come from the configuration: few objects, which live as long as the process.
      let byCluster = known.get(origin)
      if (byCluster === undefined) {
        byCluster = new Map()
        known.set(origin, byCluster)
      }
      const before = byCluster.get(cluster)
      if (before !== undefined) return before
      const hasCluster = cluster === undefined || seesCluster(cluster)
      const isSeen = hasCluster && seesName(formatName(origin))
      byCluster.set(cluster, isSeen)
      return isSeen
    },
    seesName: nameMatcherOf(scope.origins),
    namespaces: scope.namespaces.includes('*')
      ? undefined
      : new Visibility((name, facts) => fits(name, facts?.labels.get(name) ?? [])),
    mayRecurse: scope.recurse,
  }
}

/** Returns a function that tests whether a query name is at or below a matching name. */
function nameMatcherOf(patterns: readonly string[]): ClientVisibility['seesName'] {
  if (patterns.includes('*')) return () => true
  const zones = patterns.flatMap((pattern) => {
    const name = pattern.includes('*') ? undefined : parseName(pattern)
    return name === undefined ? [] : [asWordBytes(name)]
  })
  const wide = patterns.filter((pattern) => pattern.includes('*'))
  const fits = matcherOf(wide)
  return (query) =>
    zones.some((zone) => endsIn(query, zone)) ||
    (wide.length > 0 && namesFrom(query).some((name) => fits(name)))
}

/** Returns a query name and all names above it as text. */
function namesFrom({ name, nameBytes, labels, labelCount }: Query): string[] {
  const starts = [...labels.subarray(0, labelCount), nameBytes - 1]
  return starts.map((start) => formatName(name.subarray(start, nameBytes)))
}
