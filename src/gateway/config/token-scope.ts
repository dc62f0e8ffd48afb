/**
 * What a client may see and do, as JSON has it: in a request for a token, and in a rule for an
 * issuer's tokens.
 * @module
 */
import { isTexts } from '../../dns/bytes/unknown.ts'
import { formatName, lowerName, parseName } from '../../dns/names/name.ts'

/** What a token may see and do. In a pattern, `*` matches any text. */
export type TokenScope = {
  /** Patterns of cluster identifiers. */
  readonly clusters: readonly string[]
  /** Patterns of origins, absolute and in lower case. */
  readonly origins: readonly string[]
  /**
   * Patterns of namespaces. One with `=` matches a label, `key=value`; of parts joined by `&`, all
   * must match.
   */
  readonly namespaces: readonly string[]
  /** Whether the gateway forwards the client's queries to other servers. */
  readonly recurse: boolean
  /** Whether the client may use `/v1/explain`; it may not when left out. */
  readonly explain?: boolean
}

/** Fields of a scope. */
export const SCOPE_FIELDS: readonly string[] = 'clusters origins namespaces recurse explain'.split(
  ' ',
)

/** A field with an invalid value. */
export class ScopeError extends Error {
  override readonly name = 'ScopeError'
}

/** Most patterns in a list. */
export const PATTERNS_MAX = 100
const PATTERN_MAX = 253
/** The key of a label has up to 317 characters, its value up to 63. */
const NAMESPACE_PATTERN_MAX = 512

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads a scope. Without `clusters`, `origins` or `namespaces` it has all of them; without
 * `recurse` and `explain` it allows neither.
 * @throws {ScopeError} with the field and the problem
 */
export function readScope(fields: Fields): TokenScope {
  return {
    clusters: readPatterns(fields, 'clusters'),
    origins: readPatterns(fields, 'origins').map(canonicalOrigin),
    namespaces: readNamespaces(fields),
    recurse: readFlag(fields, 'recurse'),
    ...(readFlag(fields, 'explain') && { explain: true }),
  }
}

function readPatterns(
  fields: Fields,
  field: 'clusters' | 'origins' | 'namespaces',
  charactersMax = PATTERN_MAX,
): readonly string[] {
  const value = fields[field] ?? ['*']
  if (!isTexts(value) || value.length === 0 || value.length > PATTERNS_MAX) {
    throw bad(field, `is not a list of 1 to ${PATTERNS_MAX} strings`)
  }
  const wrong = value.find((text) => !/^[!-~]+$/.test(text) || text.length > charactersMax)
  if (wrong !== undefined) throw bad(field, `has "${wrong.slice(0, 40)}", which is not a pattern`)
  return [...new Set(value)].sort()
}

/** A pattern of names of namespaces (RFC 1123 labels). */
const NAMESPACE = /^[a-z0-9*-]+$/

/** Patterns of names or of labels (`key=value`), or several of these joined by `&`. */
function readNamespaces(fields: Fields): readonly string[] {
  if (fields.namespaces === 'rbac') {
    throw bad(
      'namespaces',
      'is "rbac", which rules of ISSUERS may have: a stored token has no user',
    )
  }
  const patterns = readPatterns(fields, 'namespaces', NAMESPACE_PATTERN_MAX)
  for (const pattern of patterns) {
    const text = pattern.slice(0, 40)
    for (const part of pattern.split('&')) {
      if (/^$|^=/.test(part)) throw bad('namespaces', `has "${text}", in which a part is empty`)
      if (part.includes('=') || NAMESPACE.test(part)) continue
      throw bad('namespaces', `has "${text}", which no namespace is called`)
    }
  }
  return patterns
}

/** Returns an origin in the form of the configuration: absolute and in lower case. */
function canonicalOrigin(pattern: string): string {
  if (pattern.includes('*')) return pattern.toLowerCase()
  const name = parseName(pattern)
  if (name !== undefined) return formatName(lowerName(name))
  throw bad('origins', `has "${pattern.slice(0, 40)}", which is not a domain name`)
}

function readFlag(fields: Fields, field: 'recurse' | 'explain'): boolean {
  const { [field]: value = false } = fields
  if (typeof value === 'boolean') return value
  throw bad(field, 'is neither true nor false')
}

/** Creates the error of a field. */
export function bad(field: string, problem: string): ScopeError {
  return new ScopeError(`"${field.slice(0, 40)}" ${problem}`)
}
