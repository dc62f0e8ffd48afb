/**
 * Tokens of clients: what the gateway keeps of one, which is not enough to use it.
 *
 * A token reads `kdt_ID_SECRET`. The identifier finds the record and may be told; of the whole text
 * only the SHA-256 is kept, so who reads the store can ask nothing with it.
 * @module
 */
import { encodeBase64url } from '../bytes/base64url.ts'
import { formatHex } from '../bytes/bytes.ts'
import { sha256Hex } from '../snapshot/format/signature.ts'

/** What a token may see and do. A pattern is a text in which `*` stands for anything. */
export type TokenScope = {
  /** Patterns of cluster identifiers. */
  readonly clusters: readonly string[]
  /** Patterns of origins, absolute and in lower case. */
  readonly origins: readonly string[]
  /**
   * Patterns of namespaces. One with `=` is of a label, `key=value`; of several with `&` between
   * them all have to fit.
   */
  readonly namespaces: readonly string[]
  /** Whether the gateway asks other servers on its behalf. */
  readonly recurse: boolean
  /** Whether it may have answers explained; not, when left out. */
  readonly explain?: boolean
}

/** One secret of a token; while it is rotated there are two. */
export type TokenSecret = {
  /** SHA-256 of the whole token, 64 hexadecimal digits. */
  readonly sha256: string
  /** When it ends, in milliseconds since 1970; `undefined` for with the token. */
  readonly expiresMs: number | undefined
}

/** A token as it is kept. */
export type TokenRecord = {
  readonly id: string
  /** For people: whose it is. */
  readonly name: string
  readonly scope: TokenScope
  /** Who has it without its secret: `cert:SHA256` of a certificate, `access:WHO` of Access. */
  readonly identities: readonly string[]
  /** The newest last. */
  readonly secrets: readonly TokenSecret[]
  /** Milliseconds since 1970. */
  readonly createdMs: number
  /** Milliseconds since 1970; `undefined` for never. */
  readonly expiresMs: number | undefined
}

const ID_BYTES = 6
const SECRET_BYTES = 32
const TOKEN = /^kdt_([0-9a-f]{12})_[\w-]{43}$/

/** Reads the identifier in a token; `undefined` when the text is no token of this form. */
export function tokenId(text: string): string | undefined {
  return TOKEN.exec(text)?.[1]
}

/** Gives as many unpredictable bytes as are asked for. */
export type RandomBytes = (size: number) => Uint8Array

/** Makes an identifier that is nobody's yet. */
export function newTokenId(randomBytes: RandomBytes): string {
  return formatHex(randomBytes(ID_BYTES))
}

/** Makes the text of a token, 256 bits of which are secret, and what is kept of it. */
export async function newSecret(
  id: string,
  randomBytes: RandomBytes,
): Promise<{ readonly token: string; readonly sha256: string }> {
  const token = `kdt_${id}_${encodeBase64url(randomBytes(SECRET_BYTES))}`
  return { token, sha256: await hashToken(token) }
}

/** SHA-256 of a token's text, 64 hexadecimal digits. */
export function hashToken(token: string): Promise<string> {
  return sha256Hex(new TextEncoder().encode(token))
}

/** Tells whether a token has a hash. Constant in time, the hash of the token being compared. */
export async function hasHash(token: string, sha256: string): Promise<boolean> {
  return equalSecrets(await hashToken(token), sha256)
}

/** Whether a token still holds, by time. */
export function isAlive(
  { expiresMs }: { readonly expiresMs: number | undefined },
  nowMs: number,
): boolean {
  return expiresMs === undefined || nowMs < expiresMs
}

/** Makes a test of texts against some patterns. */
export function matcherOf(patterns: readonly string[]): (text: string) => boolean {
  if (patterns.includes('*')) return () => true
  return (text) => patterns.some((pattern) => matches(pattern, text))
}

/** Tells whether a scope goes by the labels of namespaces. */
export function usesLabels({ namespaces }: TokenScope): boolean {
  return !namespaces.includes('*') && namespaces.some((pattern) => pattern.includes('='))
}

/** Makes a test of namespaces, by their names and their labels (`key=value`). */
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

/**
 * Each `*` takes as little as it can, and only the last one is ever given more: no pattern takes
 * longer than its length times the text's, as a regular expression may.
 */
function matches(pattern: string, text: string): boolean {
  let star = -1
  let resumed = 0
  let at = 0
  for (let i = 0; i < text.length; ) {
    if (pattern[at] === '*') {
      star = at++
      resumed = i
    } else if (pattern[at] === text[i]) {
      at++
      i++
    } else if (star < 0) return false
    else {
      at = star + 1
      i = ++resumed
    }
  }
  while (pattern[at] === '*') at++
  return at === pattern.length
}

/** Compares two texts of one length in a time that does not depend on where they differ. */
export function equalSecrets(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}
