/**
 * Records with targets, SRV and MX, and the addresses of hosts that are addresses: these get
 * the names of their keys (CoreDNS, plugin/backend_lookup.go).
 * @module
 */
import { toLatin1 } from '../../bytes/bytes.ts'
import type { ResourceRecord } from '../../dns/message.ts'
import { addressRecord, mxRecord, srvRecord, stripLabels } from './records.ts'
import { type Service, serviceKind } from './service.ts'

/** A record with a target, and the target's address record if it is known. */
export type HostRecord = {
  /** `undefined` when there is another that says the same. */
  readonly record: ResourceRecord | undefined
  readonly address?: ResourceRecord | undefined
  /** The host, when its addresses are to be looked up. */
  readonly target?: Uint8Array
}

/** Makes the records of a name's services. */
export type HostRecords = (name: Uint8Array, services: readonly Service[]) => readonly HostRecord[]

const WEIGHT_DEFAULT = 100
/** The port of a service that is for no SRV record. */
const NO_PORT = -1

/** Makes SRV records. Weights are shares of 100 among the services of one priority. */
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

/** Makes MX records, of the services that say that they are mail servers. */
export const mailHosts: HostRecords = (name, services) => {
  const seen = new Set<string>()
  return services.flatMap((service) => {
    if (!service.isMail) return []
    const record = (target: Uint8Array): ResourceRecord => mxRecord(name, target, service)
    const number = service.priority & 0xffff
    return hostRecord(service, seen, { number, record, hasStrippedAddress: false })
  })
}

type Making = {
  /** What makes records to one host different. */
  readonly number: number
  readonly record: (target: Uint8Array) => ResourceRecord
  /** Whether the address is that of the name with labels taken off: of MX records it is not. */
  readonly hasStrippedAddress: boolean
}

function hostRecord(service: Service, seen: Set<string>, making: Making): HostRecord[] {
  const { host, address, target, keyName, stripCount } = service
  const { number, record, hasStrippedAddress } = making
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

/** Adds a text to those that were seen. @returns whether it was not among them */
function isNew(seen: Set<string>, text: string): boolean {
  if (seen.has(text)) return false
  seen.add(text)
  return true
}
