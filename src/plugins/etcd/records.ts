/**
 * Records of services (CoreDNS, plugin/etcd/msg/service.go).
 * @module
 */
import { byteAt, concatBytes, writeUint16 } from '../../bytes/bytes.ts'
import type { ResourceRecord } from '../../dns/message.ts'
import { labelOffsets } from '../../dns/name.ts'
import { CLASS } from '../../dns/rr-class.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { Service } from './service.ts'

/** Bytes of a text's text that make one character string. */
const CHUNK_BYTES = 255
const BACKSLASH = 0x5c

const encoder = new TextEncoder()

/** Makes a record of a service's TTL. */
export function recordOf(
  owner: Uint8Array,
  type: number,
  rdata: Uint8Array,
  { ttlSeconds }: Service,
): ResourceRecord {
  return { owner, type, class: CLASS.IN, ttlSeconds, rdata }
}

/** Makes the A or AAAA record of a service that is an address. */
export function addressRecord(
  owner: Uint8Array,
  address: Uint8Array,
  service: Service,
): ResourceRecord {
  return recordOf(owner, address.length === 4 ? TYPE.A : TYPE.AAAA, address, service)
}

/** Makes an SRV record; numbers beyond 16 bits lose what is beyond. */
export function srvRecord(
  owner: Uint8Array,
  { service, target, weight }: { service: Service; target: Uint8Array; weight: number },
): ResourceRecord {
  const numbers = new Uint8Array(6)
  writeUint16(numbers, 0, service.priority & 0xffff)
  writeUint16(numbers, 2, weight)
  writeUint16(numbers, 4, service.port & 0xffff)
  return recordOf(owner, TYPE.SRV, concatBytes(numbers, target), service)
}

/** Makes an MX record. */
export function mxRecord(owner: Uint8Array, target: Uint8Array, service: Service): ResourceRecord {
  const preference = new Uint8Array(2)
  writeUint16(preference, 0, service.priority & 0xffff)
  return recordOf(owner, TYPE.MX, concatBytes(preference, target), service)
}

/** Makes the TXT record of a service's text, in strings of 255 bytes. */
export function txtRecord(owner: Uint8Array, service: Service): ResourceRecord {
  const octets = encoder.encode(service.text)
  const strings: Uint8Array[] = []
  // A text of 255 bytes, or twice as many, ends in an empty string.
  for (let at = 0; at <= octets.length; at += CHUNK_BYTES) {
    const content = unescapeBytes(octets.subarray(at, at + CHUNK_BYTES))
    strings.push(Uint8Array.of(content.length), content)
  }
  return recordOf(owner, TYPE.TXT, concatBytes(...strings), service)
}

/** Takes labels off the left of a name; all of the name, when it has no more than these. */
export function stripLabels(name: Uint8Array, count: number): Uint8Array {
  const at = count > 0 ? labelOffsets(name)[count] : undefined
  return at === undefined ? name : name.subarray(at)
}

/** Texts are as in zone files: a backslash takes a character, or three digits, as it is. */
function unescapeBytes(octets: Uint8Array): Uint8Array {
  const plain = new Uint8Array(octets.length)
  let size = 0
  for (let i = 0; i < octets.length; i++) {
    if (byteAt(octets, i) !== BACKSLASH) {
      plain[size++] = byteAt(octets, i)
      continue
    }
    if (i + 1 === octets.length) break
    const digits = /^\d{3}/.exec(String.fromCharCode(...octets.subarray(i + 1, i + 4)))?.[0]
    plain[size++] = digits === undefined ? byteAt(octets, i + 1) : Number(digits)
    i += digits === undefined ? 1 : 3
  }
  return plain.subarray(0, size)
}
