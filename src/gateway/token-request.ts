/**
 * Parses the operator's request for a new token.
 * @module
 */

import { isRecord } from '../bytes/unknown.ts'
import { formatName, lowerName, parseName } from '../dns/name.ts'
import { HttpError } from '../doh/http-error.ts'
import type { TokenScope } from './token.ts'

/** A token request. */
export type TokenRequest = {
  readonly name: string
  readonly scope: TokenScope
  readonly identities: readonly string[]
  /** Milliseconds until the token expires; `undefined` for never. */
  readonly lifeMs: number | undefined
}

const NAME_MAX = 100
const PATTERNS_MAX = 100
const PATTERN_MAX = 253
/** The key of a label has up to 317 characters, its value up to 63. */
const NAMESPACE_PATTERN_MAX = 512
/** Certificates; email addresses, `@DOMAIN` or names of service tokens, in lower case. */
const IDENTITY = /^(?:cert:[0-9a-f]{64}|access:[!-@[-~]{1,320})$/
const LIFE_SECONDS_MAX = 10 * 366 * 24 * 3600
const FIELDS: ReadonlySet<string> = new Set([
  'name',
  'clusters',
  'origins',
  'namespaces',
  'recurse',
  'explain',
  'identities',
  'expiresInSeconds',
])

/**
 * Parses a token request from JSON. Without `clusters`, `origins` or `namespaces` the token sees
 * all of them; without `recurse` and `explain` it may do neither.
 * @throws {HttpError} 400 that names the field
 */
export function readTokenRequest(text: string): TokenRequest {
  const fields = readObject(text)
  const unknown = Object.keys(fields).find((name) => !FIELDS.has(name))
  if (unknown !== undefined) throw bad(unknown, `is not one of ${[...FIELDS].join(', ')}`)
  return {
    name: readName(fields.name),
    scope: {
      clusters: readPatterns(fields, 'clusters'),
      origins: readPatterns(fields, 'origins').map(canonicalOrigin),
      namespaces: readNamespaces(fields),
      recurse: readFlag(fields, 'recurse'),
      ...(readFlag(fields, 'explain') && { explain: true }),
    },
    identities: readIdentities(fields.identities),
    lifeMs: readLife(fields.expiresInSeconds),
  }
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text)
    if (isRecord(value)) return value
  } catch {
    throw new HttpError(400, 'bad_json', 'The body is not JSON')
  }
  throw new HttpError(400, 'bad_json', 'The body is not a JSON object')
}

function readName(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string' && value.length <= NAME_MAX && !/\p{Cc}/u.test(value)) return value
  throw bad('name', `is not a string of at most ${NAME_MAX} characters`)
}

function readPatterns(
  fields: Readonly<Record<string, unknown>>,
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

/** Patterns of names or of labels (`key=value`), or several of these joined by `&`. */
function readNamespaces(fields: Readonly<Record<string, unknown>>): readonly string[] {
  const patterns = readPatterns(fields, 'namespaces', NAMESPACE_PATTERN_MAX)
  const wrong = patterns.find((one) => one.split('&').some((part) => /^$|^=/.test(part)))
  if (wrong === undefined) return patterns
  throw bad('namespaces', `has "${wrong.slice(0, 40)}", in which a part is empty`)
}

/** Returns an origin in the form of the configuration: absolute and in lower case. */
function canonicalOrigin(pattern: string): string {
  if (pattern.includes('*')) return pattern.toLowerCase()
  const name = parseName(pattern)
  if (name === undefined)
    throw bad('origins', `has "${pattern.slice(0, 40)}", which is not a domain name`)
  return formatName(lowerName(name))
}

function readFlag(
  fields: Readonly<Record<string, unknown>>,
  field: 'recurse' | 'explain',
): boolean {
  const value = fields[field]
  if (value === undefined) return false
  if (typeof value === 'boolean') return value
  throw bad(field, 'is neither true nor false')
}

function readIdentities(value: unknown = []): readonly string[] {
  if (!isTexts(value) || value.length > PATTERNS_MAX) {
    throw bad('identities', 'is not a list of "cert:SHA256" and "access:WHO"')
  }
  const wrong = value.find((one) => !IDENTITY.test(one))
  if (wrong === undefined) return value
  const forms =
    'cert: and 64 lower-case hexadecimal digits, or access: and an email address or @DOMAIN'
  throw bad('identities', `has ${JSON.stringify(wrong.slice(0, 80))}, expected ${forms}`)
}

function readLife(value: unknown): number | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'number' && value > 0 && value <= LIFE_SECONDS_MAX) return 1000 * value
  throw bad('expiresInSeconds', `is not a number from 1 to ${LIFE_SECONDS_MAX}`)
}

function bad(field: string, problem: string): HttpError {
  return new HttpError(400, 'bad_field', `"${field.slice(0, 40)}" ${problem}`)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
