/**
 * Parses DNSEndpoints of external-dns: records of every type but those of the zone itself.
 * @module
 */
import { mapInSteps, type Steps } from '../../dns/bytes/steps.ts'
import { parseAddress } from '../../dns/names/address.ts'
import { ROOT } from '../../dns/names/name.ts'
import { parseType, TYPE } from '../../dns/names/rr-type.ts'
import { parseRdata } from '../../dns/wire/rdata-text.ts'
import { HOSTS_MAX } from './host-bounds.ts'
import type { Fields } from './object-fields.ts'
import type { HostName, HostObject, HostRecords } from './objects.ts'
import { hostObject } from './parse-hosts.ts'

/** Types that belong to a zone or to DNSSEC, or are not records. */
const REFUSED_TYPES: ReadonlySet<number> = new Set([
  TYPE.SOA,
  TYPE.NS,
  TYPE.DNAME,
  TYPE.DS,
  TYPE.RRSIG,
  TYPE.NSEC,
  TYPE.NSEC3,
  TYPE.DNSKEY,
  TYPE.OPT,
])
const TTL_SECONDS_MAX = 2 ** 31 - 1
/** A quoted string, or a word. */
const WORDS = /"(?:[^"\\]|\\.)*"|\S+/g

/** Parses a DNSEndpoint. */
export function* parseDnsEndpoint(fields: Fields): Steps<HostObject> {
  const spec = fields.child('spec')
  spec.checkLength('endpoints', HOSTS_MAX)
  const endpoints = spec.children('endpoints')
  return hostObject('DNSEndpoint', fields, { hosts: yield* mapInSteps(endpoints, parseHost) })
}

function parseHost(endpoint: Fields): HostName {
  const targets = endpoint.texts('targets').filter((text) => text !== '')
  const name = endpoint.text('dnsName').toLowerCase().replace(/\.$/, '')
  const ttlSeconds = endpoint.count('recordTTL', TTL_SECONDS_MAX)
  const host = { name, targets: [], texts: [], ...(ttlSeconds > 0 && { ttlSeconds }) }
  const type = endpoint.text('recordType')
  switch (type) {
    case 'A':
    case 'AAAA': {
      const problems = targets
        .filter((text) => parseAddress(text) === undefined)
        .map((text) => `a record of type ${type} cannot be "${text}"`)
      const addresses = targets.filter((text) => parseAddress(text) !== undefined)
      return { ...host, targets: addresses, ...(problems.length > 0 && { problems }) }
    }
    case 'CNAME':
      return { ...host, targets, isAlias: true }
    case 'TXT':
      return { ...host, texts: targets }
    default:
      return { ...host, ...recordsOf(type, targets) }
  }
}

/** Returns records of a type from their texts, and what is wrong with the others. */
function recordsOf(
  typeText: string,
  targets: readonly string[],
): Pick<HostName, 'records' | 'problems'> {
  const type = parseType(typeText)
  if (type === undefined || REFUSED_TYPES.has(type) || type >= 0xff00) {
    return { problems: [`"${typeText}" is not a type of records that can be published`] }
  }
  const problems: string[] = []
  const rdata = targets.flatMap((text) => {
    const parsed = parseRdata(type, wordsOf(text), ROOT)
    if (parsed === undefined) problems.push(`a ${typeText} record cannot be "${text}"`)
    return parsed ?? []
  })
  const records: HostRecords[] = rdata.length === 0 ? [] : [{ type, rdata }]
  return { records, ...(problems.length > 0 && { problems }) }
}

/** Splits presentation format into words, without their quotes. */
export function wordsOf(text: string): string[] {
  return (text.match(WORDS) ?? []).map((word) => word.replace(/^"(.*)"$/s, '$1'))
}
