/**
 * Records as the text of zone files (RFC 1035 §5.1): one record a line, `owner TTL class type
 * rdata`.
 * @module
 */
import type { ResourceRecord } from '../dns/message.ts'
import { formatName } from '../dns/name.ts'
import { formatRdata } from '../dns/rdata-text.ts'
import { formatClass } from '../dns/rr-class.ts'
import { formatType } from '../dns/rr-type.ts'
import { readRecord } from './zone-record.ts'
import { ZoneFileError, ZoneScanner } from './zone-scanner.ts'

/** TTL of a record that names none, as in CoreDNS. */
const TTL_SECONDS_DEFAULT = 3600

/** Formats a record as one line, fields separated by one blank. */
export function formatRecord(record: ResourceRecord): string {
  const { owner, ttlSeconds, type } = record
  const rdata = formatRdata(type, record.rdata)
  const words = [formatName(owner), ttlSeconds, formatClass(record.class), formatType(type)]
  return [...words, ...(rdata === '' ? [] : [rdata])].join(' ')
}

/**
 * Parses one record as a zone file has it, all in one line or within parentheses; a TTL that is
 * left out is an hour. Relative names are below `origin`. `undefined` when it is not a record.
 */
export function parseRecord(text: string, origin: Uint8Array): ResourceRecord | undefined {
  const scanner = new ZoneScanner('', text.trim())
  const state = {
    file: '',
    origin,
    owner: origin,
    ttlSeconds: TTL_SECONDS_DEFAULT,
    isTtlFixed: false,
  }
  try {
    const line = scanner.next()
    const record = line && readRecord(line, state)
    return scanner.next() === undefined ? record : undefined
  } catch (error) {
    if (!(error instanceof ZoneFileError)) throw error
    return undefined
  }
}
