/**
 * Loads zones from files.
 * @module
 */

import type { Host } from '../../chain/host.ts'
import type { ResourceRecord } from '../../dns/message.ts'
import { formatName } from '../../dns/name.ts'
import { formatType, TYPE } from '../../dns/rr-type.ts'
import { soaSerial } from '../../dns/soa.ts'
import { readZoneFile } from '../../records/zone-file.ts'
import { ZoneFileError } from '../../records/zone-scanner.ts'
import { ZoneBuilder, type ZoneData } from './zone-data.ts'

/** Which file to read for which zone. */
export type ZoneSource = {
  readonly file: string
  /** Absolute, in lower case. */
  readonly origin: Uint8Array
}

/** The result of loading a zone. */
export type LoadedZone =
  | { readonly kind: 'zone'; readonly zone: ZoneData }
  /** The serial is the known one. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'missing' }
  /** The file is invalid; `error` has the position, if there is one. */
  | { readonly kind: 'wrong'; readonly reason: string; readonly error?: ZoneFileError }

/**
 * Reads a zone from its file; stops early if its serial is `knownSerial`. As in CoreDNS, NSEC3
 * records are invalid: the plugin cannot prove negative responses with them.
 */
export function loadZone(
  readText: Host['readText'],
  source: ZoneSource,
  knownSerial?: number,
): LoadedZone {
  const { file, origin } = source
  const text = readText(file)
  if (text === undefined) return { kind: 'missing' }
  const builder = new ZoneBuilder(origin)
  try {
    let hasSoa = false
    for (const record of readZoneFile({ ...source, text, readText })) {
      if (record.type === TYPE.SOA && !hasSoa) {
        hasSoa = true
        if (soaSerial(record.rdata) === knownSerial) return { kind: 'unchanged' }
      }
      const reason = refusal(record)
      if (reason !== undefined) return { kind: 'wrong', reason }
      builder.add(record)
    }
  } catch (error) {
    if (!(error instanceof ZoneFileError)) throw error
    return { kind: 'wrong', reason: error.message, error }
  }
  const zone = builder.finish()
  if (zone !== undefined) return { kind: 'zone', zone }
  return { kind: 'wrong', reason: `zone "${formatName(origin)}" has no SOA record` }
}

function refusal({ type, owner }: ResourceRecord): string | undefined {
  if (type !== TYPE.NSEC3 && type !== TYPE.NSEC3PARAM) return undefined
  const name = formatName(owner)
  return `a ${formatType(type)} record at "${name}": zones are signed with NSEC records only`
}
