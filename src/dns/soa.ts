/**
 * What SOA records say (RFC 1035 §3.3.13), and serials, which go round (RFC 1982).
 * @module
 */
import { readUint32 } from '../bytes/bytes.ts'
import { nameEnd } from './rdata-wire.ts'

/** The times of a zone, in seconds. */
export type SoaTimes = {
  readonly refreshSeconds: number
  readonly retrySeconds: number
  readonly expireSeconds: number
  /** TTL of denials (RFC 2308 §4). */
  readonly minimumSeconds: number
}

/** Reads the serial from valid rdata of an SOA record. */
export function soaSerial(rdata: Uint8Array): number {
  return readUint32(rdata, numbersAt(rdata))
}

/** Reads the times from valid rdata of an SOA record. */
export function soaTimes(rdata: Uint8Array): SoaTimes {
  const at = numbersAt(rdata)
  return {
    refreshSeconds: readUint32(rdata, at + 4),
    retrySeconds: readUint32(rdata, at + 8),
    expireSeconds: readUint32(rdata, at + 12),
    minimumSeconds: readUint32(rdata, at + 16),
  }
}

/** Whether a serial comes after another; of two 2^31 apart, neither does (RFC 1982 §3.2). */
export function isSerialAfter(serial: number, other: number): boolean {
  const distance = (serial - other) >>> 0
  return distance > 0 && distance < 0x80000000
}

function numbersAt(rdata: Uint8Array): number {
  return nameEnd(rdata, nameEnd(rdata, 0))
}
