/**
 * Answers each type of question from the keys (CoreDNS, plugin/etcd/handler.go,
 * plugin/backend_lookup.go).
 * @module
 */
import { toLatin1 } from '../../../dns/bytes/bytes.ts'
import { equalNames, isSubdomain, joinName, nameOf } from '../../../dns/names/name.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { ResourceRecord } from '../../../dns/wire/message.ts'
import { soaRecord } from '../../plugin-kit/authority.ts'
import {
  type Chase,
  chaseAddresses,
  chaseTexts,
  type Found,
  findAtApex,
  findBelow,
  lookUp,
} from './chase.ts'
import {
  addressRecord,
  etcdRecord,
  type HostEntry,
  mailHosts,
  serverHosts,
  stripLabels,
} from './records.ts'
import { type EtcdService, serviceKind } from './service.ts'
import { findServices, type Services } from './services.ts'

/** A question within a zone. */
export type EtcdQuestion = {
  readonly name: Uint8Array
  readonly lowerName: Uint8Array
  readonly type: number
}

/** Records for the answer section and the additional section. */
export type EtcdAnswer =
  | (Extract<Found, { kind: 'found' }> & { readonly additional?: readonly ResourceRecord[] })
  | Exclude<Found, { kind: 'found' }>

const NS_LABELS = nameOf('ns.dns').subarray(0, -1)
const HOSTMASTER_LABELS = nameOf('hostmaster').subarray(0, -1)
const SOA_SECONDS = 30

/** Answers a question. */
export async function answerFrom(
  chase: Chase,
  question: EtcdQuestion,
  soa: ResourceRecord,
): Promise<EtcdAnswer> {
  const { name, type } = question
  const step = { name, type, links: [] }
  switch (type) {
    case TYPE.A:
    case TYPE.AAAA:
      return chaseAddresses(chase, step)
    case TYPE.TXT:
      return chaseTexts(chase, step)
    case TYPE.CNAME:
    case TYPE.PTR: {
      const own = findOwn(chase, question)
      const isLast = own.kind !== 'absent' || chase.searched.rules === 'coredns'
      if (isLast) return andThenServices(own, (services) => namedBy(question, services))
      const below = findAtApex(chase, step)
      return andThenServices(below, (services) => namedBelow(question, services))
    }
    case TYPE.MX:
      return hostAnswer(chase, question, mailHosts)
    case TYPE.SRV:
      return hostAnswer(chase, question, serverHosts)
    case TYPE.SOA:
      return { kind: 'found', records: [soa], truncated: false }
    case TYPE.NS:
      if (equalNames(name, chase.zone)) return nameServers(chase, name)
  }
  // No key has other types; but NXDOMAIN or NODATA depends on the name.
  return andThenServices(findAtApex(chase, step), () => [])
}

/** Returns the SOA record of a zone; its serial is the time. */
export function soaRecordAt(zone: Uint8Array, nowMs: number): ResourceRecord {
  const names = { primary: NS_LABELS, mailbox: HOSTMASTER_LABELS }
  return soaRecord({ zone, ...names, ttlSeconds: SOA_SECONDS }, Math.floor(nowMs / 1000))
}

function andThenServices(
  found: Services,
  step: (services: readonly EtcdService[]) => readonly ResourceRecord[],
): EtcdAnswer {
  if (found.kind !== 'found') return found
  return { kind: 'found', records: step(found.services), truncated: found.isCut }
}

function findOwn({ searched }: Chase, { lowerName: name, type }: EtcdQuestion): Services {
  return findServices(searched, { name, type, includesBelow: false })
}

/** Returns the CNAME record of the keys below a name: the first one that addresses come with. */
function namedBelow(question: EtcdQuestion, services: readonly EtcdService[]): ResourceRecord[] {
  const names = services.filter((service) => serviceKind(service) === 'cname')
  return question.type === TYPE.CNAME ? namedBy(question, names) : []
}

/** Returns the targets of services: one as a CNAME record, or each once as a PTR record. */
function namedBy({ name, type }: EtcdQuestion, services: readonly EtcdService[]): ResourceRecord[] {
  const hosts = new Set<string>()
  const named = type === TYPE.CNAME ? services.slice(0, 1) : services
  return named.flatMap((service) => {
    const { host, target } = service
    if (target === undefined || hosts.has(host)) return []
    hosts.add(host)
    return [etcdRecord(name, type, target, service)]
  })
}

/** Returns the NS records of a zone. Their services, below `ns.dns`, must be addresses. */
function nameServers(chase: Chase, zone: Uint8Array): EtcdAnswer {
  const name = joinName(NS_LABELS, zone)
  const found = name === undefined ? undefined : findBelow(chase, { name, type: TYPE.NS })
  if (found?.kind !== 'found') return found ?? { kind: 'absent' }
  const records: ResourceRecord[] = []
  const additional: ResourceRecord[] = []
  const seen = new Set<string>()
  for (const service of found.services) {
    const { address, host, key, keyName } = service
    if (serviceKind(service) === 'cname') {
      return { kind: 'broken', reason: `${key}: a name server must be an address: ${host}` }
    }
    if (address === undefined || keyName === undefined) continue
    const server = stripLabels(keyName, service.stripCount)
    additional.push(addressRecord(server, address, service))
    if (seen.has(toLatin1(server))) continue
    seen.add(toLatin1(server))
    records.push(etcdRecord(zone, TYPE.NS, server, service))
  }
  return { kind: 'found', records, truncated: found.isCut, additional }
}

/** Returns SRV or MX records, and the addresses of their hosts. */
async function hostAnswer(
  chase: Chase,
  { name, type }: EtcdQuestion,
  hostRecords: HostEntry,
): Promise<EtcdAnswer> {
  const found = findBelow(chase, { name, type })
  if (found.kind !== 'found') return found
  const records: ResourceRecord[] = []
  const additional: ResourceRecord[] = []
  const resolved = new Set<string>()
  for (const { record, address, target } of hostRecords(name, found.services)) {
    if (record !== undefined) records.push(record)
    if (address !== undefined) additional.push(address)
    if (target === undefined || resolved.has(toLatin1(target))) continue
    resolved.add(toLatin1(target))
    for (const found of await addressesOf(chase, target)) additional.push(found)
  }
  return { kind: 'found', records, truncated: found.isCut, additional }
}

/** Returns the IPv4 addresses of a host within the zone, and all addresses of any other. */
async function addressesOf(chase: Chase, host: Uint8Array): Promise<readonly ResourceRecord[]> {
  if (isSubdomain(host, chase.zone)) {
    const found = await chaseAddresses(chase, { name: host, type: TYPE.A, links: [] })
    return found.kind === 'found' ? found.records : []
  }
  const [ipv4, ipv6] = [await lookUp(chase, host, TYPE.A), await lookUp(chase, host, TYPE.AAAA)]
  const withoutCnames = ipv6?.records.filter((record) => record.type !== TYPE.CNAME)
  return [...(ipv4?.records ?? []), ...(withoutCnames ?? [])]
}
