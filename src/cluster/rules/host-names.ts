/**
 * The names and records of hostnames in zones, and what is wrong with them.
 * @module
 */

import { concatBytes, EMPTY, toLatin1 } from '../../dns/bytes/bytes.ts'
import { parseAddress } from '../../dns/names/address.ts'
import { parseName } from '../../dns/names/name.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import { characterStrings } from '../../dns/rdata/character-string.ts'
import { parseQuotedStrings } from '../../dns/rdata/quoted-strings.ts'
import {
  CLAIMS_TYPE,
  HOST_BYTES_MAX,
  type HostMarks,
  hostKey,
  MARKS_TYPE,
  writeClaim,
  writeMarks,
} from '../../snapshot/records/host-claims.ts'
import type { Rdata, RRset } from '../../snapshot/records/zone-entry.ts'
import type { Binding, HostName, HostRecords } from '../objects/objects.ts'
import { backendRecords, backendsOf, cnameRdata, type Place } from './backend-records.ts'
import { bindingRdata } from './service-bindings.ts'

/** The targets of a name. */
export type Targets = {
  /** Addresses and hostnames. */
  readonly hosts: readonly string[]
  /** Texts of TXT records. */
  readonly texts: readonly string[]
  /** Records of other types. */
  readonly records: readonly HostRecords[]
  readonly bindings: readonly Binding[]
  /** `undefined` for the TTL of the directive. */
  readonly ttlSeconds: number | undefined
} & HostMarks

/** Most characters of a name in a message. */
const SHOWN_MAX = 80

/** Most types of records of a name: a node of a shard has room for 127, ours included. */
const TYPES_MAX = 100

const BINDING_TYPES = [TYPE.HTTPS, TYPE.SVCB]

/** Labels of names that records may have; the first may be a wildcard. */
const RECORD_NAME = /^(?:\*|[a-z0-9_-]{1,63})(?:\.[a-z0-9_-]{1,63})*$/

/** Returns whether a hostname can be published. */
export function isPublishable({ name }: HostName): boolean {
  return RECORD_NAME.test(name) && name.length < HOST_BYTES_MAX && parseName(name) !== undefined
}

/** Returns what is wrong with a hostname and its targets. */
export function hostProblems(host: HostName): readonly string[] {
  const { name, targets, problems = [] } = host
  if (!isPublishable(host)) return [`"${shorten(name)}" is not a hostname`]
  const own = targets.flatMap((target) => {
    if (target === name) return [`${name} points to itself`]
    return isTarget(target) ? [] : [`"${shorten(target)}" is neither an address nor a hostname`]
  })
  return [...own, ...problems.map((problem) => `${name}: ${problem}`)]
}

function shorten(text: string): string {
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`
}

/**
 * Returns the absolute names that a hostname stands for: itself, and itself below each zone. Only
 * the longest matching zone has a name.
 * @param zones in lower case, without the final dot; '' for the root
 */
export function absoluteNames(said: string, zones: readonly string[]): Set<string> {
  const names = new Set<string>()
  if (zones.some((zone) => isWithin(said, zone))) names.add(said)
  for (const zone of zones) {
    const below = zone === '' ? said : `${said}.${zone}`
    const isHere = !zones.some((other) => other.length > zone.length && isWithin(below, other))
    if (isHere) names.add(below)
  }
  return names
}

/** Returns the absolute names of a host, which lie in the zones. */
export function namesOfHost({ name, isAbsolute }: HostName, zones: readonly string[]): Set<string> {
  if (isAbsolute !== true) return absoluteNames(name, zones)
  return new Set(zones.some((zone) => isWithin(name, zone)) ? [name] : [])
}

/** Returns whether a name is a zone or below it; both are without the final dot. */
export function isWithin(name: string, zone: string): boolean {
  return zone === '' || name === zone || name.endsWith(`.${zone}`)
}

/** Names that end in a number are wrong addresses: no TLD is one (RFC 1123 section 2.1). */
const ENDS_IN_NUMBER = /(?:^|\.)\d+\.?$/

/** Returns whether a target is an address or a hostname. */
export function isTarget(host: string): boolean {
  if (parseAddress(host) !== undefined) return true
  return !ENDS_IN_NUMBER.test(host) && cnameRdata(host) !== undefined
}

/** A claim to a hostname. */
export type HostClaim = Targets & {
  /** The namespace whose viewers may see it; '' for all clients. */
  readonly namespace: string
  /** 0 for the claim that wins, to `CLAIMS_MAX - 1`. */
  readonly rank: number
  /** The objects that claim the name, as text, the winner first. */
  readonly objects: readonly string[]
}

/**
 * Returns the records of an absolute name, at its key; hostnames among its targets become CNAMEs.
 * Returns none without a valid target, or for a name that has no key.
 */
export function hostRecords(name: string, claim: HostClaim, ttlSeconds: number): RRset[] {
  const labels = parseName(name)?.subarray(0, -1)
  const owner = labels && hostKey(labels, claim.rank)
  if (owner === undefined) return []
  const { namespace, objects } = claim
  const place = { owner, namespace, ttlSeconds: claim.ttlSeconds ?? ttlSeconds }
  // The operator of a hostname that another object adds may publish others.
  const isOwn = claim.hosts.every((host) => parseAddress(host) !== undefined)
  const bindings = isOwn ? claim.bindings : []
  const records = [
    ...backendRecords(
      place,
      claim.hosts.flatMap((host) => backendsOf(host, EMPTY, [])),
    ),
    ...setOf(place, TYPE.TXT, distinct(claim.texts.flatMap(textRdata))),
    ...firstTypes(claim.records).flatMap(({ type, rdata }) =>
      setOf(
        place,
        type,
        rdata.map((bytes) => ({ bytes })),
      ),
    ),
    ...BINDING_TYPES.flatMap((type) => setOf(place, type, bindingRdata(name, type, bindings))),
  ]
  if (records.length === 0) return []
  return [
    ...records,
    ...setOf(place, CLAIMS_TYPE, objects.map(writeClaim)),
    ...setOf(place, MARKS_TYPE, marksOf(name, claim)),
  ]
}

/** Returns the marks of a hostname; none for one without a meaning beyond its records. */
function marksOf(name: string, { isAlias, coverage, hosts }: HostClaim): Rdata[] {
  const marks: HostMarks = {
    isAlias: isAlias && hosts.some((host) => parseAddress(host) === undefined),
    coverage: name.startsWith('*') ? coverage : 'label',
  }
  return marks.isAlias || marks.coverage !== 'label' ? [writeMarks(marks)] : []
}

/** Returns the records of the lowest types: with too many, a shard could not be built. */
function firstTypes(records: readonly HostRecords[]): readonly HostRecords[] {
  const types = new Set(records.map(({ type }) => type))
  if (types.size <= TYPES_MAX) return records
  const kept = new Set([...types].sort((a, b) => a - b).slice(0, TYPES_MAX))
  return records.filter(({ type }) => kept.has(type))
}

function setOf(place: Place, type: number, rdata: readonly Rdata[]): RRset[] {
  return rdata.length === 0 ? [] : [{ kind: 'records', ...place, type, rdata }]
}

function distinct(rdata: readonly Rdata[]): Rdata[] {
  return [...new Map(rdata.map((one) => [toLatin1(one.bytes), one])).values()]
}

/**
 * Returns TXT rdata of a text in UTF-8: of its strings, if it is quoted strings as in a zone file,
 * else of the text itself. None if it is too long for a record.
 */
function textRdata(text: string): Rdata[] {
  const strings = parseQuotedStrings(text) ?? [new TextEncoder().encode(text)]
  const rdata = concatBytes(...strings.map(characterStrings))
  return rdata.length < 65536 ? [{ bytes: rdata }] : []
}
