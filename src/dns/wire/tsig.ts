/**
 * TSIG records, which authenticate a message with a shared secret (RFC 8945 §4.2), and the bytes
 * that the MAC covers besides the message (§4.3).
 *
 * ```
 *  algorithm (name)  time (6)  fudge (2)  size (2)  MAC  ID (2)  error (2)  size (2)  other data
 * ```
 * @module
 */
import {
  concatBytes,
  EMPTY,
  readUint16,
  uint16Bytes,
  uint32Bytes,
  writeUint16,
} from '../bytes/bytes.ts'
import { lowerName } from '../names/name.ts'
import { CLASS } from '../names/rr-class.ts'
import { TYPE } from '../names/rr-type.ts'
import type { Query } from './query.ts'
import { WireReader } from './rdata-wire.ts'

/** A TSIG record. */
export type Tsig = {
  /** Name of the key, absolute. */
  readonly name: Uint8Array
  readonly ttlSeconds: number
  /** Name of the algorithm, absolute. */
  readonly algorithm: Uint8Array
  /** Signing time in seconds since 1970, 48 bits. */
  readonly timeSeconds: number
  /** Allowed difference of the clocks in seconds. */
  readonly fudgeSeconds: number
  readonly mac: Uint8Array
  /** ID of the message when it was signed. */
  readonly originalId: number
  readonly error: number
  readonly other: Uint8Array
}

/** The TSIG record at the end of a message, and its offset. */
export type FoundTsig = { readonly tsig: Tsig; readonly start: number }

const TWO_TO_32 = 2 ** 32

/**
 * Parses the last record of a query; `undefined` if it is not a TSIG record, `malformed` if it is
 * an invalid one. Ignores earlier records.
 */
export function findTsig({
  bytes,
  questionEnd,
}: Pick<Query, 'bytes' | 'questionEnd'>): FoundTsig | 'malformed' | undefined {
  if (readUint16(bytes, 10) === 0) return undefined
  const count = readUint16(bytes, 6) + readUint16(bytes, 8) + readUint16(bytes, 10)
  const reader = new WireReader(bytes, questionEnd)
  for (let left = count; left > 0 && !reader.isBroken; left--) {
    const start = reader.at
    const name = reader.name()
    const type = reader.uint16()
    reader.uint16()
    const ttlSeconds = reader.uint32()
    const size = reader.uint16()
    const end = reader.at + size
    if (left === 1 && type === TYPE.TSIG) {
      const tsig = readTsig(reader, { name, ttlSeconds })
      return reader.isBroken || reader.at !== end ? 'malformed' : { tsig, start }
    }
    reader.at = end
  }
  return undefined
}

/** Writes a TSIG record. */
export function writeTsig(tsig: Tsig): Uint8Array {
  const { name, ttlSeconds, algorithm, mac, originalId, error, other } = tsig
  const id = uint16Bytes(originalId, error)
  const rdata = concatBytes(algorithm, tsigTimers(tsig), sized(mac), id, sized(other))
  const head = [uint16Bytes(TYPE.TSIG, CLASS.ANY), uint32Bytes(ttlSeconds)]
  return concatBytes(name, ...head, sized(rdata))
}

/** Writes the TSIG variables that the MAC covers, with names in lower case (§4.3.3). */
export function tsigVariables(tsig: Tsig): Uint8Array {
  const head = [lowerName(tsig.name), uint16Bytes(CLASS.ANY), uint32Bytes(tsig.ttlSeconds)]
  const tail = [uint16Bytes(tsig.error), sized(tsig.other)]
  return concatBytes(...head, lowerName(tsig.algorithm), tsigTimers(tsig), ...tail)
}

/** Writes the time and the fudge, which later messages of a transfer cover (§5.3.1). */
export function tsigTimers({
  timeSeconds,
  fudgeSeconds,
}: Pick<Tsig, 'timeSeconds' | 'fudgeSeconds'>): Uint8Array {
  return concatBytes(uint48(timeSeconds), uint16Bytes(fudgeSeconds))
}

/** Writes a 48-bit time. */
export function uint48(value: number): Uint8Array {
  return concatBytes(uint16Bytes(Math.floor(value / TWO_TO_32)), uint32Bytes(value % TWO_TO_32))
}

/** Prepends the size to bytes, as for a request's MAC (§4.3.1). */
export function sized(bytes: Uint8Array): Uint8Array {
  return concatBytes(uint16Bytes(bytes.length), bytes)
}

/** Returns the message that the MAC covers: the original one, without the TSIG record. */
export function unsignedMessage(
  message: Uint8Array,
  { tsig: { originalId }, start }: FoundTsig,
): Uint8Array {
  const unsigned = message.slice(0, start)
  writeUint16(unsigned, 0, originalId)
  writeUint16(unsigned, 10, readUint16(unsigned, 10) - 1)
  return unsigned
}

/** Appends a record to a message. */
export function appendTsig(message: Uint8Array, tsig: Tsig): Uint8Array {
  const signed = concatBytes(message, writeTsig(tsig))
  writeUint16(signed, 10, readUint16(signed, 10) + 1)
  return signed
}

function readTsig(reader: WireReader, head: Pick<Tsig, 'name' | 'ttlSeconds'>): Tsig {
  const algorithm = reader.name()
  const timeSeconds = reader.uint16() * TWO_TO_32 + reader.uint32()
  const fudgeSeconds = reader.uint16()
  const mac = takeSized(reader)
  const originalId = reader.uint16()
  const error = reader.uint16()
  const other = takeSized(reader)
  return { ...head, algorithm, timeSeconds, fudgeSeconds, mac, originalId, error, other }
}

function takeSized(reader: WireReader): Uint8Array {
  const size = reader.uint16()
  return reader.isBroken ? EMPTY : reader.take(size)
}
