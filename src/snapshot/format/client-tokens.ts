/**
 * The ClientTokens of a cluster as its exporter sends them to a gateway, as JSON: always all of
 * them, so that what a list lacks ends.
 * @module
 */
import { isRecord, isTexts, parseJson } from '../../dns/bytes/unknown.ts'

/** Most ClientTokens of a cluster. */
export const CLIENT_TOKENS_MAX = 1000
/** Most bytes of a list. */
export const CLIENT_TOKENS_BYTES_MAX: number = 4 * 1024 * 1024

/** A client of an issuer whose tokens the gateway accepts. */
export type SentSubject = {
  /** The `iss` of its tokens. */
  readonly issuer: string
  /** Their `sub`. */
  readonly name: string
  /** Whether its tokens count only if the keys of the object's own cluster verify them. */
  readonly keys: 'any' | 'cluster'
}

/** Who has the scope of a ClientToken: the holder of a text, or a client of an issuer. */
type SentHolder =
  /** SHA-256 of the token's text, 64 hexadecimal digits. */
  | { readonly sha256: string; readonly subject?: undefined }
  | { readonly subject: SentSubject; readonly sha256?: undefined }

/** A ClientToken that the exporter has accepted. */
export type SentToken = SentHolder & {
  /** The UID of the object. */
  readonly uid: string
  /** The object, `NAMESPACE/NAME`. */
  readonly name: string
  /** Patterns of namespaces. */
  readonly namespaces: readonly string[]
  /** Patterns of origins. */
  readonly origins: readonly string[]
  readonly recurse: boolean
  readonly explain: boolean
  /** Milliseconds since 1970; `null` for never. */
  readonly expiresMs: number | null
}

/** What a gateway made of a ClientToken. */
export type TokenOutcome = {
  readonly uid: string
  /** Identifier of the token in the gateway's list. */
  readonly id: string
  /** Day of the last use (UTC), such as `2026-01-31`; `null` for never. */
  readonly lastUsed: string | null
  /** Why the token does not count; `null` if it does. */
  readonly refusal: TokenRefusal | null
}

/** Why a ClientToken does not count. */
export type TokenRefusal = {
  /** One word in CamelCase, as conditions of Kubernetes have it. */
  readonly reason: string
  readonly message: string
}

const TEXT = /^kdo_[\w-]{32,128}$/
const UID = /^[\w-]{1,64}$/
const NAME = /^[a-z0-9-]{1,63}\/[a-z0-9.-]{1,253}$/
const SHA256 = /^[0-9a-f]{64}$/
/** The pattern of an issuer's URL. */
export const ISSUER_PATTERN = '^https?://[!-~]+$'
/** Most characters of an issuer's URL. */
export const ISSUER_CHARS_MAX = 512
/** The pattern of an issuer's name for a client (OpenID Connect Core 1.0 §2: ASCII). */
export const SUBJECT_PATTERN = '^[!-~]([ -~]*[!-~])?$'
/** Most characters of an issuer's name for a client (OpenID Connect Core 1.0 §2). */
export const SUBJECT_CHARS_MAX = 255
const [ISSUER, SUBJECT] = [new RegExp(ISSUER_PATTERN), new RegExp(SUBJECT_PATTERN)]

/** What the text of a token is, for messages. */
export const CLIENT_TOKEN_TEXT = '"kdo_" and 32 to 128 characters of A-Z, a-z, 0-9, "_" and "-"'

/** Returns whether a text may be that of a ClientToken: `kdo_` and 32 to 128 characters. */
export function isClientToken(text: string): boolean {
  return text.startsWith('kdo_') && TEXT.test(text)
}

/** Formats a list. */
export function formatSentTokens(tokens: readonly SentToken[]): string {
  return JSON.stringify({ tokens })
}

/**
 * Parses a list from untrusted text; `undefined` for anything else, for more than
 * {@link CLIENT_TOKENS_MAX} tokens, and when one has no valid uid or name, or not either a valid
 * hash or a valid subject. Does not check patterns.
 */
export function parseSentTokens(text: string): readonly SentToken[] | undefined {
  const value = parseJson(text)
  if (!isRecord(value) || !Array.isArray(value.tokens)) return undefined
  const tokens = value.tokens.flatMap((one: unknown) => parseToken(one) ?? [])
  const isWhole = tokens.length === value.tokens.length && tokens.length <= CLIENT_TOKENS_MAX
  return isWhole ? tokens : undefined
}

function parseToken(value: unknown): SentToken | undefined {
  if (!isRecord(value)) return undefined
  const { uid, name, namespaces, origins, recurse, explain, expiresMs } = value
  const holder = parseHolder(value)
  const isValid =
    holder !== undefined &&
    isMatch(uid, UID) &&
    isMatch(name, NAME) &&
    isTexts(namespaces) &&
    isTexts(origins) &&
    typeof recurse === 'boolean' &&
    typeof explain === 'boolean' &&
    (expiresMs === null || Number.isSafeInteger(expiresMs))
  if (!isValid) return undefined
  const times = { expiresMs: typeof expiresMs === 'number' ? expiresMs : null }
  return { uid, name, ...holder, namespaces, origins, recurse, explain, ...times }
}

function parseHolder({
  sha256,
  subject,
}: Readonly<Record<string, unknown>>): SentHolder | undefined {
  if (subject === undefined) return isMatch(sha256, SHA256) ? { sha256 } : undefined
  if (sha256 !== undefined || !isRecord(subject)) return undefined
  const { issuer, name, keys } = subject
  const isValid =
    isMatch(issuer, ISSUER) &&
    issuer.length <= ISSUER_CHARS_MAX &&
    isMatch(name, SUBJECT) &&
    name.length <= SUBJECT_CHARS_MAX &&
    (keys === 'any' || keys === 'cluster')
  return isValid ? { subject: { issuer, name, keys } } : undefined
}

function isMatch(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value)
}

/** Parses the outcomes in a gateway's response; leaves out what is none. */
export function parseOutcomes(value: unknown): readonly TokenOutcome[] {
  const tokens = isRecord(value) && Array.isArray(value.tokens) ? value.tokens : []
  return tokens.flatMap((one: unknown) => {
    if (!isRecord(one) || typeof one.uid !== 'string' || typeof one.id !== 'string') return []
    const { uid, id } = one
    const lastUsed = typeof one.lastUsed === 'string' ? one.lastUsed : null
    return [{ uid, id, lastUsed, refusal: parseRefusal(one.refusal) }]
  })
}

function parseRefusal(value: unknown): TokenRefusal | null {
  if (!isRecord(value)) return null
  return { reason: String(value.reason), message: String(value.message) }
}
