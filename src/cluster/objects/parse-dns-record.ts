/**
 * Parses DNSRecords (`dnsrecords.kubedoh.dev`). The patterns are those of the schema in
 * `deploy/crds`, which a test compares: the API server refuses the same objects, unless an older
 * schema let them in.
 * @module
 */
import { ROOT } from '../../dns/names/name.ts'
import { parseType } from '../../dns/names/rr-type.ts'
import { parseRdata } from '../../dns/wire/rdata-text.ts'
import { HOST_BYTES_MAX } from '../../snapshot/records/host-claims.ts'
import { FieldError, type Fields } from './object-fields.ts'
import type { HostName, HostObject, HostRefusal, RecordCondition, RecordFacts } from './objects.ts'
import { wordsOf } from './parse-dns-endpoint.ts'
import { hostObject } from './parse-hosts.ts'

/** Most characters of an owner name without its final dot. */
export const OWNER_CHARS_MAX: number = HOST_BYTES_MAX - 1
/** Most values of a record. */
export const VALUES_MAX = 16
/** Most characters of a text. */
export const TEXT_CHARS_MAX = 1024
/** Most characters of a value that is not text. */
export const VALUE_CHARS_MAX = 253
/** A week. */
export const RECORD_TTL_SECONDS_MAX = 604_800

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const ANY_LABEL = LABEL.replaceAll('a-z', 'A-Za-z')
const NAME = `${ANY_LABEL}(?:\\.${ANY_LABEL})*\\.?`
const TARGET = `(?:\\.|${NAME})`
const POSITIVE =
  '[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]'
const UINT16 = `(?:0|${POSITIVE})`
const BYTE = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
const IPV4 = `${BYTE}(?:\\.${BYTE}){3}`
const HEX = '[0-9a-fA-F]{1,4}'
const IPV6 = `(?:${[
  `(?:${HEX}:){7}${HEX}`,
  `(?:${HEX}:){1,7}:`,
  ...[6, 5, 4, 3, 2, 1].map((size) => `(?:${HEX}:){1,${size}}(?::${HEX}){1,${7 - size}}`),
  `:(?:(?::${HEX}){1,7}|:)`,
].join('|')})`
const ALPN = '[a-z0-9./-]+'
const PARAMS = [
  `(?: alpn=${ALPN}(?:,${ALPN})*(?: no-default-alpn)?)?`,
  `(?: port=${UINT16})?`,
  `(?: ipv4hint=${IPV4}(?:,${IPV4})*)?`,
  `(?: ipv6hint=${IPV6}(?:,${IPV6})*)?`,
].join('')

/** The pattern of the zone, for the whole text. */
export const ZONE_PATTERN: string = `^${LABEL}(?:\\.${LABEL})*$`
/** The pattern of the name below the zone, for the whole text. */
export const NAME_PATTERN: string = `^(?:@|(?:\\*|${LABEL})(?:\\.${LABEL})*)$`
/** The pattern of a value by its type, for the whole text, without look-ahead, which CEL lacks. */
export const VALUE_PATTERNS: Readonly<Record<string, string>> = {
  A: `^${IPV4}$`,
  AAAA: `^${IPV6}$`,
  CNAME: `^${NAME}$`,
  TXT: '^[ -~]+$',
  SRV: `^${UINT16} ${UINT16} ${UINT16} ${TARGET}$`,
  MX: `^${UINT16} ${TARGET}$`,
  CAA: '^(?:0|128) [a-zA-Z0-9]{1,15} "[ !#-\\[\\]-~]*"$',
  HTTPS: `^(?:0 ${NAME}|(?:${POSITIVE}) ${TARGET}${PARAMS})$`,
}

/** Parses a DNSRecord; one that is invalid has no hosts, and a refusal. */
export function parseDnsRecord(fields: Fields): HostObject {
  const found = hostOrRefusal(fields)
  const host = 'reason' in found ? undefined : found
  return hostObject('DNSRecord', fields, {
    hosts: host === undefined ? [] : [host],
    // Annotations of external-dns would add names outside the allowed zones.
    annotations: new Map(),
    record: recordFacts(fields, {
      isCname: host !== undefined && fields.child('spec').text('type') === 'CNAME',
      refusal: 'reason' in found ? found : undefined,
    }),
  })
}

/** Adds what the API server keeps of an object: its version and its conditions. */
export function recordFacts(
  fields: Fields,
  own: Pick<RecordFacts, 'isCname' | 'refusal'>,
): RecordFacts {
  const metadata = fields.child('metadata')
  return {
    ...own,
    generation: metadata.count('generation', Number.MAX_SAFE_INTEGER),
    resourceVersion: metadata.text('resourceVersion'),
    conditions: fields.child('status').children('conditions').map(parseCondition),
  }
}

function hostOrRefusal(fields: Fields): HostName | HostRefusal {
  try {
    const spec = fields.child('spec')
    const zone = required(spec, 'zone', ZONE_PATTERN)
    const relative = required(spec, 'name', NAME_PATTERN)
    const name = relative === '@' ? zone : `${relative}.${zone}`
    const host = { name, isAbsolute: true, ...parseValues(spec) }
    if (name.length <= OWNER_CHARS_MAX) return host
    const message = `${name.length} characters of name and zone, ${OWNER_CHARS_MAX} are allowed`
    return { reason: 'NameTooLong', message }
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    return { reason: 'InvalidValue', message: error.message }
  }
}

function required(spec: Fields, name: string, pattern: string): string {
  const text = spec.match(name, new RegExp(pattern), 'a name in lower case without a final dot')
  if (text === '') throw new FieldError(`spec.${name} is missing`)
  return text
}

function parseValues(spec: Fields): Omit<HostName, 'name'> {
  const ttlSeconds = spec.count('ttl', RECORD_TTL_SECONDS_MAX)
  const own = { targets: [], texts: [], ...(spec.has('ttl') && { ttlSeconds }) }
  const type = spec.text('type')
  const pattern = VALUE_PATTERNS[type]
  const number = parseType(type)
  const values = spec.texts('values')
  if (pattern === undefined || number === undefined) {
    const types = Object.keys(VALUE_PATTERNS).join(', ')
    throw new FieldError(`spec.type is "${type.slice(0, 20)}", expected one of ${types}`)
  }
  checkValues(values, type, new RegExp(pattern))
  if (type === 'A' || type === 'AAAA') return { ...own, targets: values }
  if (type === 'CNAME') return { ...own, targets: values, isAlias: true }
  if (type === 'TXT') return { ...own, texts: values }
  const rdata = values.map((value) => {
    const bytes = parseRdata(number, wordsOf(value), ROOT)
    if (bytes === undefined) throw new FieldError(`a ${type} record cannot be "${value}"`)
    return bytes
  })
  return { ...own, records: [{ type: number, rdata }] }
}

/** @throws {FieldError} */
function checkValues(values: readonly string[], type: string, pattern: RegExp): void {
  const most = type === 'CNAME' ? 1 : VALUES_MAX
  if (values.length === 0 || values.length > most || new Set(values).size < values.length) {
    const wanted = `1 to ${most} different values`
    throw new FieldError(`spec.values has ${values.length}, expected ${wanted} of type ${type}`)
  }
  const charsMax = type === 'TXT' ? TEXT_CHARS_MAX : VALUE_CHARS_MAX
  const wrong = values.find((value) => value.length > charsMax || !pattern.test(value))
  if (wrong === undefined) return
  throw new FieldError(`a ${type} record cannot be "${wrong.slice(0, 80)}"`)
}

function parseCondition(fields: Fields): RecordCondition {
  return {
    type: fields.text('type'),
    status: fields.text('status'),
    reason: fields.text('reason'),
    message: fields.text('message'),
    lastTransitionTime: fields.text('lastTransitionTime'),
    observedGeneration: fields.count('observedGeneration', Number.MAX_SAFE_INTEGER),
  }
}
