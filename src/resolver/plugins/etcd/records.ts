/**
 * Records of services (CoreDNS, plugin/etcd/msg/service.go).
 * @module
 */
import { byteAt, concatBytes, toLatin1, uint16Bytes } from '../../../dns/bytes/bytes.ts'
import { labelOffsets } from '../../../dns/names/name.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { ResourceRecord } from '../../../dns/wire/message.ts'
import { type EtcdService, serviceKind } from './service.ts'

/** Bytes of an escaped text in one character string. */
const CHUNK_BYTES = 255
const BACKSLASH = 0x5c

const encoder = new TextEncoder()

/** Returns a record with a service's TTL. */
export function etcdRecord(
  owner: Uint8Array,
  type: number,
  rdata: Uint8Array,
  { ttlSeconds }: EtcdService,
): ResourceRecord {
  return { owner, type, class: CLASS.IN, ttlSeconds, rdata }
}

/** Returns the A or AAAA record of a service whose host is an address. */
export function addressRecord(
  owner: Uint8Array,
  address: Uint8Array,
  service: EtcdService,
): ResourceRecord {
  return etcdRecord(owner, address.length === 4 ? TYPE.A : TYPE.AAAA, address, service)
}

/** Returns an SRV record, with the low 16 bits of its numbers. */
export function srvRecord(
  owner: Uint8Array,
  { service, target, weight }: { service: EtcdService; target: Uint8Array; weight: number },
): ResourceRecord {
  const numbers = uint16Bytes(service.priority, weight, service.port)
  return etcdRecord(owner, TYPE.SRV, concatBytes(numbers, target), service)
}

/** Returns an MX record, with the low 16 bits of its preference. */
export function mxRecord(
  owner: Uint8Array,
  target: Uint8Array,
  service: EtcdService,
): ResourceRecord {
  return etcdRecord(owner, TYPE.MX, concatBytes(uint16Bytes(service.priority), target), service)
}

/** Returns the TXT record of a service's text, in strings of at most 255 bytes. */
export function txtRecord(owner: Uint8Array, service: EtcdService): ResourceRecord {
  const bytes = encoder.encode(service.text)
  const strings: Uint8Array[] = []
  // As in CoreDNS, a text of 255 or 510 bytes ends in an empty string.
  for (let at = 0; at <= bytes.length; at += CHUNK_BYTES) {
    const content = unescapeBytes(bytes.subarray(at, at + CHUNK_BYTES))
    strings.push(Uint8Array.of(content.length), content)
  }
  return etcdRecord(owner, TYPE.TXT, concatBytes(...strings), service)
}

/** Removes labels from the left of a name; returns the whole name if it has no more. */
export function stripLabels(name: Uint8Array, count: number): Uint8Array {
  const at = count > 0 ? labelOffsets(name)[count] : undefined
  return at === undefined ? name : name.subarray(at)
}

/** Resolves backslash escapes, `\X` and `\DDD`, as in zone files (RFC 1035 §5.1). */
function unescapeBytes(bytes: Uint8Array): Uint8Array {
  const plain = new Uint8Array(bytes.length)
  let size = 0
  for (let i = 0; i < bytes.length; i++) {
    if (byteAt(bytes, i) !== BACKSLASH) {
      plain[size++] = byteAt(bytes, i)
      continue
    }
    if (i + 1 === bytes.length) break
    const digits = /^\d{3}/.exec(String.fromCharCode(...bytes.subarray(i + 1, i + 4)))?.[0]
    plain[size++] = digits === undefined ? byteAt(bytes, i + 1) : Number(digits)
    i += digits === undefined ? 1 : 3
  }
  return plain.subarray(0, size)
}

/** A record with a target, and the target's address record if it is known. */
type HostRecord = {
  /** `undefined` for a duplicate. */
  readonly record: ResourceRecord | undefined
  readonly address?: ResourceRecord | undefined
  /** The host, if the caller must resolve its addresses. */
  readonly target?: Uint8Array
}

/** Returns the records of a name's services. */
export type HostEntry = (
  name: Uint8Array,
  services: readonly EtcdService[],
) => readonly HostRecord[]

const WEIGHT_DEFAULT = 100
/** The port of a service without SRV record. */
const NO_PORT = -1

/** Returns SRV records. Weights are shares of 100 among the services of one priority. */
export const serverHosts: HostEntry = (name, services) => {
  const sums = new Map<number, number>()
  for (const { priority, weight } of services) {
    sums.set(priority, (sums.get(priority) ?? 0) + (weight || WEIGHT_DEFAULT))
  }
  const seen = new Set<string>()
  return services.flatMap((service) => {
    const { priority, port } = service
    if (port === NO_PORT) return []
    const share = (100 / (sums.get(priority) ?? 1)) * (service.weight || WEIGHT_DEFAULT)
    const weight = Math.floor(share) & 0xffff || 1
    const record = (target: Uint8Array): ResourceRecord =>
      srvRecord(name, { service, target, weight })
    return hostRecord(service, seen, { number: port & 0xffff, record, hasStrippedAddress: true })
  })
}

/** Returns MX records of the services with `mail`. */
export const mailHosts: HostEntry = (name, services) => {
  const seen = new Set<string>()
  return services.flatMap((service) => {
    if (!service.isMail) return []
    const record = (target: Uint8Array): ResourceRecord => mxRecord(name, target, service)
    const number = service.priority & 0xffff
    return hostRecord(service, seen, { number, record, hasStrippedAddress: false })
  })
}

type RecordForm = {
  /** Port or preference: distinguishes records to one host. */
  readonly number: number
  readonly record: (target: Uint8Array) => ResourceRecord
  /** Whether the address record's owner is the stripped name; not for MX records. */
  readonly hasStrippedAddress: boolean
}

function hostRecord(service: EtcdService, seen: Set<string>, form: RecordForm): HostRecord[] {
  const { host, address, target, keyName, stripCount } = service
  const { number, record, hasStrippedAddress } = form
  if (address === undefined) {
    if (serviceKind(service) !== 'cname' || target === undefined) return []
    const server = stripLabels(target, stripCount)
    return [{ record: record(server), target: server }]
  }
  if (keyName === undefined) return []
  const server = stripLabels(keyName, stripCount)
  const owner = hasStrippedAddress ? server : keyName
  const isNewRecord = isNew(seen, `${toLatin1(server)} ${number}`)
  const isNewAddress = isNew(seen, `${toLatin1(owner)} at ${host}`)
  return [
    {
      record: isNewRecord ? record(server) : undefined,
      address: isNewAddress ? addressRecord(owner, address, service) : undefined,
    },
  ]
}

/** Adds a text to a set. @returns whether it is new */
function isNew(seen: Set<string>, text: string): boolean {
  if (seen.has(text)) return false
  seen.add(text)
  return true
}
