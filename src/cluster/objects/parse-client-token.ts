/**
 * Parses ClientTokens (`clienttokens.kubedoh.dev`). The patterns are those of the schema in
 * `deploy/crds`, which a test compares: the API server refuses the same objects, unless an older
 * schema let them in.
 * @module
 */
import {
  ISSUER_CHARS_MAX,
  ISSUER_PATTERN,
  SUBJECT_CHARS_MAX,
  SUBJECT_PATTERN,
} from '../../snapshot/format/client-tokens.ts'
import { FieldError, Fields } from './object-fields.ts'
import type { RecordCondition } from './objects.ts'
import { recordFacts } from './parse-dns-record.ts'

/** Most patterns of namespaces, or of origins. */
export const SCOPE_PATTERNS_MAX = 16
/** Most characters of a pattern. */
export const SCOPE_CHARS_MAX = 253

const NAME = '[a-z0-9*-]+'
const LABEL = "[!-%'-<>-~]+=[!-%'-~]*"
const PART = `(?:${NAME}|${LABEL})`
/** The pattern of a pattern of namespaces: names, labels (`key=value`), several joined by `&`. */
export const NAMESPACES_PATTERN: string = `^${PART}(?:&${PART})*$`
const ORIGIN_LABEL = '[a-z0-9_*](?:[a-z0-9_*-]{0,61}[a-z0-9_*])?'
/** The pattern of a pattern of origins. */
export const ORIGINS_PATTERN: string = `^${ORIGIN_LABEL}(?:\\.${ORIGIN_LABEL})*\\.?$`
/** The pattern of a Secret's name (RFC 1123). */
export const SECRET_PATTERN = '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$'
/** The pattern of a key in a Secret. */
export const KEY_PATTERN = '^[-._a-zA-Z0-9]+$'
const KEY_DEFAULT = 'token'
/** A time (RFC 3339). */
const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/

/** Where the text of a token is, in the namespace of its object. */
export type TokenSecretRef = { readonly name: string; readonly key: string }

/** Who has the scope of a ClientToken: the holder of a text, or a client of an issuer. */
type TokenHolder =
  | { readonly secret: TokenSecretRef }
  | { readonly subject: { readonly issuer: string; readonly name: string } }

/** What a ClientToken wants. */
export type ClientTokenSpec = TokenHolder & {
  /** `undefined` for that of the object. */
  readonly namespaces: readonly string[] | undefined
  readonly origins: readonly string[]
  readonly recurse: boolean
  readonly explain: boolean
  /** Milliseconds since 1970; `undefined` for never. */
  readonly expiresMs: number | undefined
}

/** The part of its status that the exporter writes. */
export type ClientTokenStatus = {
  readonly identifier: string
  readonly scope: string
  /** A day, or ''. */
  readonly lastUsed: string
  readonly observedGeneration: number
  readonly conditions: readonly RecordCondition[]
}

/** A ClientToken. */
export type ClientToken = {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Milliseconds since 1970. */
  readonly createdMs: number
  readonly generation: number
  readonly resourceVersion: string
  /** Without what it wants, the problem with that. */
  readonly spec: ClientTokenSpec | { readonly problem: string }
  readonly status: ClientTokenStatus
}

/** Parses an object; `undefined` for one without a name or with a status of another shape. */
export function parseClientToken(value: unknown): ClientToken | undefined {
  try {
    const fields = new Fields(value)
    const { namespace, name } = fields.meta()
    const { createdMs, uid = '' } = fields.created()
    const facts = recordFacts(fields, { isCname: false, refusal: undefined })
    const { generation, resourceVersion, conditions } = facts
    const about = { namespace, name, uid, createdMs, generation, resourceVersion }
    return { ...about, spec: specOrProblem(fields), status: parseStatus(fields, conditions) }
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    return undefined
  }
}

function parseStatus(fields: Fields, conditions: readonly RecordCondition[]): ClientTokenStatus {
  const status = fields.child('status')
  return {
    identifier: status.text('identifier'),
    scope: status.text('scope'),
    lastUsed: status.text('lastUsed'),
    observedGeneration: status.count('observedGeneration', Number.MAX_SAFE_INTEGER),
    conditions,
  }
}

function specOrProblem(fields: Fields): ClientToken['spec'] {
  try {
    return parseSpec(fields.child('spec'))
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    return { problem: error.message }
  }
}

function parseSpec(spec: Fields): ClientTokenSpec {
  const namespaces = patterns(spec, 'namespaces', NAMESPACES_PATTERN)
  const expires = spec.match('expires', TIME, 'a time (RFC 3339)')
  return {
    ...parseHolder(spec),
    namespaces,
    origins: patterns(spec, 'origins', ORIGINS_PATTERN) ?? ['*'],
    recurse: spec.flag('recurse') === true,
    explain: spec.flag('explain') === true,
    expiresMs: expires === '' ? undefined : timeOf(expires),
  }
}

function parseHolder(spec: Fields): TokenHolder {
  if (spec.has('secretRef') === spec.has('subject')) {
    const found = spec.has('subject') ? 'both' : 'neither'
    throw new FieldError(`spec has ${found} of "secretRef" and "subject", expected one`)
  }
  return spec.has('subject')
    ? { subject: parseSubject(spec.child('subject')) }
    : { secret: parseSecretRef(spec.child('secretRef')) }
}

function parseSubject(subject: Fields): { readonly issuer: string; readonly name: string } {
  const issuer = subject.match('issuer', new RegExp(ISSUER_PATTERN), 'the URL of an issuer')
  if (issuer === '' || issuer.length > ISSUER_CHARS_MAX) {
    throw new FieldError('spec.subject.issuer is missing, or too long')
  }
  const name = subject.match('name', new RegExp(SUBJECT_PATTERN), 'the name of a client')
  if (name === '' || name.length > SUBJECT_CHARS_MAX) {
    throw new FieldError('spec.subject.name is missing, or too long')
  }
  return { issuer, name }
}

function parseSecretRef(ref: Fields): TokenSecretRef {
  const name = ref.match('name', new RegExp(SECRET_PATTERN), 'the name of a Secret')
  if (name === '' || name.length > SCOPE_CHARS_MAX) {
    throw new FieldError('spec.secretRef.name is missing, or no name of a Secret')
  }
  const key = ref.match('key', new RegExp(KEY_PATTERN), 'a key of a Secret') || KEY_DEFAULT
  return { name, key }
}

function timeOf(text: string): number {
  const timeMs = Date.parse(text)
  if (!Number.isNaN(timeMs)) return timeMs
  throw new FieldError(`spec.expires is "${text}", which is no time`)
}

function patterns(
  spec: Fields,
  field: 'namespaces' | 'origins',
  pattern: string,
): readonly string[] | undefined {
  if (!spec.has(field)) return undefined
  const texts = spec.texts(field)
  const isSet = new Set(texts).size === texts.length
  if (texts.length === 0 || texts.length > SCOPE_PATTERNS_MAX || !isSet) {
    const wanted = `1 to ${SCOPE_PATTERNS_MAX} different patterns`
    throw new FieldError(`spec.${field} has ${texts.length}, expected ${wanted}`)
  }
  const valid = new RegExp(pattern)
  const wrong = texts.find((text) => text.length > SCOPE_CHARS_MAX || !valid.test(text))
  if (wrong !== undefined) {
    throw new FieldError(`spec.${field} has "${wrong.slice(0, 40)}", which is no pattern`)
  }
  if (texts.length === 1 || !texts.includes('*')) return texts
  throw new FieldError(`spec.${field} has "*" and other patterns`)
}
