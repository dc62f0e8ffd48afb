/**
 * Parses ConfigMaps with zone files and hosts files. The label `kubedoh.dev/hostnames` says which:
 *
 * - `zone`: each key is a zone, and its value the zone file. SOA and NS records are ignored.
 * - `hosts`: each value is a hosts file (hosts(5)), whatever its key.
 * @module
 */
import { parseAddress } from '../../dns/address.ts'
import type { ResourceRecord } from '../../dns/message.ts'
import { formatName, parseName } from '../../dns/name.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { readZoneFile } from '../../records/zone-file.ts'
import { ZoneFileError } from '../../records/zone-scanner.ts'
import { FieldError, type Fields } from './object-fields.ts'
import type { Host, HostObject } from './objects.ts'
import { hostObject } from './parse-hosts.ts'

/** The label that selects ConfigMaps, and says what they have. */
export const HOSTNAMES_LABEL = 'kubedoh.dev/hostnames'
/** Most records and names of a ConfigMap, generated ones included. */
const HOSTS_MAX = 100_000
/** Most bytes of the owners and data of its records: `$GENERATE` makes many of a few words. */
const RECORD_BYTES_MAX = 16 * 1024 * 1024

/** Parses a ConfigMap with the label. @throws {FieldError} */
export function parseConfigMap(fields: Fields): HostObject {
  const form = fields.meta().labels.get(HOSTNAMES_LABEL) ?? ''
  const files = Object.entries(fields.child('data').all())
  if (form !== 'zone' && form !== 'hosts') {
    throw new FieldError(`label ${HOSTNAMES_LABEL} is "${form}", expected "zone" or "hosts"`)
  }
  const hosts = form === 'zone' ? zoneHosts(files) : files.flatMap(([, text]) => hostsFile(text))
  if (hosts.length > HOSTS_MAX) throw new FieldError(`it has more than ${HOSTS_MAX} hostnames`)
  return hostObject('ConfigMap', fields, { hosts })
}

/** Returns the hosts of zone files. Stops at the bounds, which count for all files together. */
function zoneHosts(files: readonly (readonly [zone: string, text: string])[]): Host[] {
  const hosts: Host[] = []
  let count = 0
  let bytes = 0
  for (const [zone, text] of files) {
    for (const record of zoneRecords(zone, text)) {
      bytes += record.owner.length + record.rdata.length
      if (++count > HOSTS_MAX) throw new FieldError(`it has more than ${HOSTS_MAX} records`)
      if (bytes > RECORD_BYTES_MAX) {
        throw new FieldError(`its records take more than ${RECORD_BYTES_MAX} bytes`)
      }
      if (record.type !== TYPE.SOA && record.type !== TYPE.NS) hosts.push(hostOf(record))
    }
  }
  return hosts
}

function* zoneRecords(zone: string, text: string): Generator<ResourceRecord> {
  const origin = parseName(zone.toLowerCase())
  if (origin === undefined) throw new FieldError(`key "${zone}" is not a zone`)
  try {
    yield* readZoneFile({ file: zone, text, origin, readText: () => undefined })
  } catch (error) {
    if (error instanceof ZoneFileError) throw new FieldError(error.message)
    throw error
  }
}

function hostOf({ owner, type, ttlSeconds, rdata }: ResourceRecord): Host {
  const name = formatName(owner).toLowerCase().replace(/\.$/, '')
  const host = { name, targets: [], texts: [], ttlSeconds }
  if (type === TYPE.CNAME) {
    return { ...host, targets: [formatName(rdata).replace(/\.$/, '')], isAlias: true }
  }
  return { ...host, records: [{ type, rdata: [rdata] }] }
}

function hostsFile(text: string): Host[] {
  return text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (parseAddress(address) === undefined) return []
    return names.map((name) => {
      return { name: name.toLowerCase().replace(/\.$/, ''), targets: [address], texts: [] }
    })
  })
}
