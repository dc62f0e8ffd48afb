/**
 * SOA and NS records of zones that a plugin generates.
 * @module
 */

import { firstWord, type Option } from '../../corefile/arguments.ts'
import { configError, type Problem } from '../../corefile/problem.ts'
import { concatBytes, uint32Bytes } from '../../dns/bytes/bytes.ts'
import { joinName, parseRelativeName } from '../../dns/names/name.ts'
import { CLASS } from '../../dns/names/rr-class.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import type { ResourceRecord } from '../../dns/wire/message.ts'

const REFRESH_SECONDS = 7200
const RETRY_SECONDS = 1800
const EXPIRE_SECONDS = 86400

/** A zone and its authority. */
export type Authority = {
  /** Absolute. */
  readonly zone: Uint8Array
  /** The primary name server and the operator's mailbox, as names below the zone. */
  readonly primary: Uint8Array
  readonly mailbox: Uint8Array
  /** TTL of the records, and of negative answers. */
  readonly ttlSeconds: number
}

/** Returns the SOA record; a name too long for the zone becomes the zone itself. */
export function soaRecord(authority: Authority, serial: number): ResourceRecord {
  const { zone, primary, mailbox, ttlSeconds } = authority
  const numbers = uint32Bytes(serial, REFRESH_SECONDS, RETRY_SECONDS, EXPIRE_SECONDS, ttlSeconds)
  const rdata = concatBytes(below(primary, zone), below(mailbox, zone), numbers)
  return { owner: zone, type: TYPE.SOA, class: CLASS.IN, ttlSeconds, rdata }
}

/** Returns the NS record for a name server below the zone. */
export function nsRecord({ zone, ttlSeconds }: Authority, server: Uint8Array): ResourceRecord {
  const rdata = below(server, zone)
  return { owner: zone, type: TYPE.NS, class: CLASS.IN, ttlSeconds, rdata }
}

function below(labels: Uint8Array, zone: Uint8Array): Uint8Array {
  return joinName(labels, zone) ?? zone
}

/**
 * Reads an option's name below a zone, such as `example`. Ignores further arguments with a notice.
 * @throws {ConfigError} for anything else
 */
export function parseServerName(option: Option, example: string, notices: Problem[]): Uint8Array {
  const word = firstWord(option, notices)
  const labels = parseRelativeName(word.text.toLowerCase().replace(/\.$/, ''))
  if (labels !== undefined && labels.length > 0) return labels
  throw configError(word, `"${word.text}" is not a name such as "${example}"`)
}
