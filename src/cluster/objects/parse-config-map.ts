/**
 * Parses ConfigMaps with zone files and hosts files. The label `kubedoh.dev/hostnames` says which:
 *
 * - `zone`: each key is a zone, and its value the zone file. SOA and NS records are ignored.
 * - `hosts`: each value is a hosts file (hosts(5)), whatever its key.
 * @module
 */
import type { Steps } from '../../dns/bytes/steps.ts'
import { parseAddress } from '../../dns/names/address.ts'
import { formatName, parseName } from '../../dns/names/name.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import type { ResourceRecord } from '../../dns/wire/message.ts'
import { parseRange, readZoneFile } from '../../snapshot/records/zone-file.ts'
import { ZoneFileError } from '../../snapshot/records/zone-scanner.ts'
import { HOSTS_MAX, HostCount } from './host-bounds.ts'
import { FieldError, type Fields } from './object-fields.ts'
import type { HostName, HostObject } from './objects.ts'
import { hostObject } from './parse-hosts.ts'

/** The label that selects ConfigMaps, and says what they have. */
export const HOSTNAMES_LABEL = 'kubedoh.dev/hostnames'
/** Lines that a step reads; most of them may be comments. */
const STEP_LINES = 500
/** Records that a step reads. */
const STEP_RECORDS = 25
/** A directive that makes many records, with its range. */
const GENERATE = /^\$GENERATE[ \t]+(\d+-\d+(?:\/\d+)?)/gim
/** A name within a line of a hosts file. */
const WORD = /\S+/g

/** Parses a ConfigMap with the label, in steps of some lines. @throws {FieldError} */
export function* parseConfigMap(fields: Fields): Steps<HostObject> {
  const form = fields.meta().labels.get(HOSTNAMES_LABEL) ?? ''
  const files = Object.entries(fields.child('data').all())
  if (form !== 'zone' && form !== 'hosts') {
    throw new FieldError(`label ${HOSTNAMES_LABEL} is "${form}", expected "zone" or "hosts"`)
  }
  const hosts: HostName[] = []
  const count = new HostCount(form === 'zone' ? generatedCount(files) : 0)
  checkCount(count)
  for (const host of form === 'zone' ? zoneHosts(files) : fileHosts(files)) {
    if (host === undefined || hosts.length % STEP_RECORDS === 0) yield
    if (host === undefined) continue
    hosts.push(host)
    count.add(host)
    checkCount(count)
  }
  yield
  return hostObject('ConfigMap', fields, { hosts })
}

/** @throws {FieldError} */
function checkCount({ problem }: HostCount): void {
  if (problem !== undefined) throw new FieldError(problem)
}

type Files = readonly (readonly [name: string, text: string])[]

/**
 * Returns how many records the files generate, if these are too many by themselves; else 0, as they
 * are counted when they are made.
 */
function generatedCount(files: Files): number {
  let count = 0
  for (const [, text] of files) {
    for (const [, words = ''] of text.matchAll(GENERATE)) {
      const range = parseRange(words)
      if (range !== undefined) count += Math.floor((range.last - range.first) / range.step) + 1
    }
  }
  return count > HOSTS_MAX ? count : 0
}

/** Yields the hosts of zone files. */
function* zoneHosts(files: Files): Generator<HostName> {
  for (const [zone, text] of files) {
    for (const record of zoneRecords(zone, text)) {
      if (record.type !== TYPE.SOA && record.type !== TYPE.NS) yield hostOf(record)
    }
  }
}

function* zoneRecords(zone: string, text: string): Generator<ResourceRecord> {
  const origin = parseName(zone.toLowerCase())
  if (origin === undefined) throw new FieldError(`key "${zone}" is not a zone`)
  try {
    yield* readZoneFile({ file: zone, text, origin })
  } catch (error) {
    if (error instanceof ZoneFileError) throw new FieldError(error.message)
    throw error
  }
}

function hostOf({ owner, type, ttlSeconds, rdata }: ResourceRecord): HostName {
  const name = formatName(owner).toLowerCase().replace(/\.$/, '')
  const host = { name, targets: [], texts: [], ttlSeconds }
  if (type === TYPE.CNAME) {
    return { ...host, targets: [formatName(rdata).replace(/\.$/, '')], isAlias: true }
  }
  return { ...host, records: [{ type, rdata: [rdata] }] }
}

/** Yields the hosts of hosts files, and `undefined` after many lines, which may have none. */
function* fileHosts(files: Files): Generator<HostName | undefined> {
  for (const [, text] of files) {
    let lines = 0
    for (let at = 0; at < text.length; ) {
      const end = text.indexOf('\n', at)
      const line = text.slice(at, end < 0 ? text.length : end)
      at += line.length + 1
      yield* lineHosts(line)
      if (++lines % STEP_LINES === 0) yield undefined
    }
  }
}

function* lineHosts(line: string): Generator<HostName> {
  const comment = line.indexOf('#')
  const words = (comment < 0 ? line : line.slice(0, comment)).matchAll(WORD)
  const [address = ''] = words.next().value ?? []
  if (parseAddress(address) === undefined) return
  for (const [name] of words) {
    yield { name: name.toLowerCase().replace(/\.$/, ''), targets: [address], texts: [] }
  }
}
