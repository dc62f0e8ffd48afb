/**
 * Records as the text of zone files (RFC 1035 §5.1): one record a line, `owner TTL class type
 * rdata`.
 * @module
 */

import { formatName, ROOT } from '../../dns/names/name.ts'
import { formatClass } from '../../dns/names/rr-class.ts'
import { formatType } from '../../dns/names/rr-type.ts'
import type { ResourceRecord } from '../../dns/wire/message.ts'
import { formatRdata } from '../../dns/wire/rdata-text.ts'
import { readRecord } from './zone-record.ts'
import { ZoneFileError, ZoneScanner } from './zone-scanner.ts'

/** TTL of a record without one, as in CoreDNS. */
const TTL_SECONDS_DEFAULT = 3600

/** Formats a record as one line, fields separated by one blank. */
export function formatRecord(record: ResourceRecord): string {
  const { owner, ttlSeconds, type } = record
  const rdata = formatRdata(type, record.rdata)
  const words = [formatName(owner), ttlSeconds, formatClass(record.class), formatType(type)]
  return [...words, ...(rdata === '' ? [] : [rdata])].join(' ')
}

/**
 * Parses the first record of a text in zone file syntax, and ignores the rest. The default TTL is
 * an hour; the owner may be omitted after a blank. Relative names are below the root. `undefined`
 * if there is no record.
 */
export function parseFirstRecord(text: string): ResourceRecord | undefined {
  const defaults = { ttlSeconds: TTL_SECONDS_DEFAULT, isTtlFixed: false }
  try {
    const line = new ZoneScanner('', text).next()
    return line && readRecord(line, { file: '', origin: ROOT, owner: ROOT, ...defaults })
  } catch (error) {
    if (!(error instanceof ZoneFileError)) throw error
    return undefined
  }
}
