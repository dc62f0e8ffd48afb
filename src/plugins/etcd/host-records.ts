/**
 * SRV and MX records, with address records for hosts that are addresses: the name of such a host is
 * that of its key (CoreDNS, plugin/backend_lookup.go).
 * @module
 */
import { toLatin1 } from '../../bytes/bytes.ts'
import type { ResourceRecord } from '../../dns/message.ts'
import { addressRecord, mxRecord, srvRecord, stripLabels } from './records.ts'
import { type Service, serviceKind } from './service.ts'

/** A record with a target, and the target's address record if it is known. */
export type HostRecord = {
  /** `undefined` for a duplicate. */
  readonly record: ResourceRecord | undefined
  readonly address?: ResourceRecord | undefined
  /** The host, if the caller must resolve its addresses. */
  readonly target?: Uint8Array
}

/** Returns the records of a name's services. */
export type HostRecords = (name: Uint8Array, services: readonly Service[]) => readonly HostRecord[]

const WEIGHT_DEFAULT = 100
/** The port of a service without SRV record. */
const NO_PORT = -1

/** Returns SRV records. Weights are shares of 100 among the services of one priority. */
export const serverHosts: HostRecords = (name, services) => {
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
export const mailHosts: HostRecords = (name, services) => {
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

function hostRecord(service: Service, seen: Set<string>, form: RecordForm): HostRecord[] {
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
