/**
 * The name servers of each namespace, for clients that do not see all of them: records of a private
 * type at a glue name, which no query finds.
 *
 * ```
 * size of the namespace (1) | namespace | size of the address (1): 0, 4 or 16 | address | target
 * ```
 *
 * A namespace without a name server (in CoreDNS, if an EndpointSlice has no Service) has one record
 * without address and target. The records of the empty namespace are for clients that see none of
 * the namespaces.
 * @module
 */
import { byteAt, concatBytes } from '../../dns/bytes/bytes.ts'
import type { Rdata } from './zone-entry.ts'

/** The relative name of the primary name server. */
export const NS_DNS: Uint8Array = Uint8Array.of(2, 0x6e, 0x73, 3, 0x64, 0x6e, 0x73)
/** The relative name of the records: `_ns`. */
export const SERVER_CHOICES: Uint8Array = Uint8Array.of(3, 0x5f, 0x6e, 0x73)
/** The type of the records, for private use (RFC 6895 §3.1). */
export const SERVER_CHOICES_TYPE = 0xff00

/** One name server. */
export type ServerChoice = {
  /** Its namespace, '' for none. */
  readonly namespace: string
  /** 4 or 16 bytes, or none. */
  readonly address: Uint8Array
  /** The labels of its name below the zone; empty if there is no server. */
  readonly target: Uint8Array
}

/** Writes a name server as rdata. */
export function writeServerChoice({ namespace, address, target }: ServerChoice): Rdata {
  const name = new TextEncoder().encode(namespace)
  const sizes = [Uint8Array.of(name.length), Uint8Array.of(address.length)] as const
  return { bytes: concatBytes(sizes[0], name, sizes[1], address, target) }
}

/** Reads a name server from rdata; truncates fields that exceed it. */
export function readServerChoice(rdata: Uint8Array): ServerChoice {
  const nameEnd = 1 + byteAt(rdata, 0)
  const addressEnd = nameEnd + 1 + byteAt(rdata, nameEnd)
  const address = rdata.subarray(nameEnd + 1, addressEnd)
  return {
    namespace: new TextDecoder().decode(rdata.subarray(1, nameEnd)),
    address: address.length === 4 || address.length === 16 ? address : rdata.subarray(0, 0),
    target: rdata.subarray(addressEnd),
  }
}
