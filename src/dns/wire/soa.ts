/**
 * Fields of SOA records (RFC 1035 §3.3.13), and serial number arithmetic (RFC 1982).
 * @module
 */
import { readUint32 } from '../bytes/bytes.ts'
import { nameEnd } from './rdata-wire.ts'

/** The timers of a zone, in seconds. */
export type SoaTimes = {
  readonly refreshSeconds: number
  readonly retrySeconds: number
  readonly expireSeconds: number
}

/** Returns the serial in valid SOA rdata. */
export function soaSerial(rdata: Uint8Array): number {
  return readUint32(rdata, numbersAt(rdata))
}

/** Returns the timers in valid SOA rdata. */
export function soaTimes(rdata: Uint8Array): SoaTimes {
  const at = numbersAt(rdata)
  return {
    refreshSeconds: readUint32(rdata, at + 4),
    retrySeconds: readUint32(rdata, at + 8),
    expireSeconds: readUint32(rdata, at + 12),
  }
}

/** Returns whether a serial is newer than another; false if they are 2^31 apart (RFC 1982 §3.2). */
export function isSerialAfter(serial: number, other: number): boolean {
  const distance = (serial - other) >>> 0
  return distance > 0 && distance < 0x80000000
}

function numbersAt(rdata: Uint8Array): number {
  return nameEnd(rdata, nameEnd(rdata, 0))
}
