/**
 * Records for tests, from the text of zone files.
 * @module
 */
import type { ResourceRecord } from '../src/dns/wire/message.ts'
import { readRecord } from '../src/snapshot/records/zone-record.ts'
import { ZoneFileError, ZoneScanner } from '../src/snapshot/records/zone-scanner.ts'

const TTL_SECONDS_DEFAULT = 3600

/**
 * Parses one record as a zone file has it, all in one line or within parentheses; a TTL that is
 * left out is an hour. Relative names are below `origin`. `undefined` when it is not a record.
 */
export function parseRecord(text: string, origin: Uint8Array): ResourceRecord | undefined {
  const defaults = { ttlSeconds: TTL_SECONDS_DEFAULT, isTtlFixed: false }
  try {
    const scanner = new ZoneScanner('', text.trim())
    const line = scanner.next()
    const record = line && readRecord(line, { file: '', origin, owner: origin, ...defaults })
    return scanner.next() === undefined ? record : undefined
  } catch (error) {
    if (!(error instanceof ZoneFileError)) throw error
    return undefined
  }
}
