/**
 * Addresses and texts of a name, through CNAMEs. The plugin follows a CNAME within the zone itself;
 * the whole server resolves any other (CoreDNS, plugin/backend_lookup.go).
 * @module
 */
import { equalBytes } from '../../../dns/bytes/bytes.ts'
import { isSubdomain, joinName, lowerName, nameOf } from '../../../dns/names/name.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { ResourceRecord } from '../../../dns/wire/message.ts'
import type { MaybePromise } from '../../contract/maybe-promise.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { type Denial, denialOf } from '../../plugin-kit/denial.ts'
import { addressRecord, etcdRecord, txtRecord } from './records.ts'
import { type EtcdService, serviceKind } from './service.ts'
import { findServices, type Searched, type Services } from './services.ts'

/** One query on its way through the keys. */
export type Chase = {
  readonly searched: Searched
  /** The zone that the query is in, in lower case. */
  readonly zone: Uint8Array
  readonly lookup: (name: Uint8Array, type: number) => MaybePromise<Outcome>
  /** CNAMEs that this query may still follow, here or elsewhere. */
  readonly budget: { links: number }
}

/** The records of a name; without records, the response is NODATA. */
export type Found =
  | {
      readonly kind: 'found'
      readonly records: readonly ResourceRecord[]
      readonly truncated: boolean
      /** The negative response to the name that a lone CNAME points to, outside of the zone. */
      readonly denial?: Denial | undefined
    }
  | Exclude<Services, { kind: 'found' }>

/** The state of a chase. */
export type Step = {
  /** In the letter case of the query, or of the CNAME before it. */
  readonly name: Uint8Array
  readonly type: number
  /** CNAMEs from the query name to here. */
  readonly links: readonly ResourceRecord[]
}

type Part = {
  readonly records: readonly ResourceRecord[]
  readonly truncated: boolean
  readonly denial?: Denial | undefined
}

/** CNAMEs of one chain. */
const CHAIN_LINKS_MAX = 11
/** CNAMEs that one query follows, in all chains together. */
export const LINKS_MAX = 256

const APEX_LABELS = nameOf('apex.dns').subarray(0, -1)
const NOTHING: Part = { records: [], truncated: false }

/** Finds the records of an address type at a name; those of a zone are at `apex.dns` below it. */
export async function chaseAddresses(chase: Chase, step: Step): Promise<Found> {
  const services = findAtApex(chase, step)
  if (services.kind !== 'found') return services
  return collect(chase, step, services)
}

/** Finds the texts at a name. */
export async function chaseTexts(chase: Chase, step: Step): Promise<Found> {
  const services = findBelow(chase, step)
  if (services.kind !== 'found') return services
  return collect(chase, step, services)
}

/** Finds the services at and below a name. */
export function findBelow({ searched }: Chase, { name, type }: Omit<Step, 'links'>): Services {
  return findServices(searched, { name: lowerName(name), type, includesBelow: true })
}

/** As `findBelow`; for a zone, prefers the services at `apex.dns` below it. */
export function findAtApex(chase: Chase, { name, type }: Omit<Step, 'links'>): Services {
  const apex = equalBytes(lowerName(name), chase.zone) && joinName(APEX_LABELS, name)
  const found = apex ? findBelow(chase, { name: apex, type }) : undefined
  return found?.kind === 'found' ? found : findBelow(chase, { name, type })
}

/** Resolves a name through the whole server; `undefined` for no response or no budget. */
export async function lookUp(
  { lookup, budget }: Chase,
  name: Uint8Array,
  type: number,
): Promise<Part | undefined> {
  if (budget.links === 0) return undefined
  budget.links--
  const outcome = await lookup(name, type)
  const denial = denialOf(outcome, type)
  if (outcome.kind === 'reply') {
    return { records: outcome.answer, truncated: outcome.truncated, denial }
  }
  return outcome.kind === 'failure' ? { ...NOTHING, denial } : undefined
}

async function collect(
  chase: Chase,
  step: Step,
  { services, isCut }: Extract<Services, { kind: 'found' }>,
): Promise<Found> {
  const records: ResourceRecord[] = []
  const seen = new Set<string>()
  let truncated = isCut
  let denial: Denial | undefined
  for (const service of services) {
    const { target } = service
    if (serviceKind(service) === 'cname' && target !== undefined) {
      const part = await follow(chase, step, etcdRecord(step.name, TYPE.CNAME, target, service))
      for (const record of part.records) records.push(record)
      truncated ||= part.truncated
      if (services.length === 1) denial = part.denial
      continue
    }
    const own = ownRecord(step, service)
    const content = step.type === TYPE.TXT ? service.text : service.host
    if (own === undefined || seen.has(content)) continue
    seen.add(content)
    records.push(own)
  }
  return { kind: 'found', records, truncated, denial }
}

/** Returns the record of a service itself, if it has one of the type. */
function ownRecord({ name, type }: Step, service: EtcdService): ResourceRecord | undefined {
  const kind = serviceKind(service)
  if (type === TYPE.TXT) return kind === 'text' ? txtRecord(name, service) : undefined
  const { address } = service
  const wanted = type === TYPE.AAAA ? 'ipv6' : 'ipv4'
  return kind === wanted && address !== undefined
    ? addressRecord(name, address, service)
    : undefined
}

/**
 * Follows a CNAME. One to the name itself or below it is a loop, since a name includes the services
 * below it. Omits a CNAME whose target is in the zone and has no records.
 */
async function follow(chase: Chase, step: Step, link: ResourceRecord): Promise<Part> {
  const { links, type } = step
  const target = link.rdata
  if (isSubdomain(target, step.name) || links.length >= CHAIN_LINKS_MAX) return NOTHING
  if (links.some(({ rdata }) => equalBytes(rdata, target))) return NOTHING
  if (!isSubdomain(target, chase.zone)) {
    const elsewhere = await lookUp(chase, target, type)
    return elsewhere === undefined
      ? NOTHING
      : { ...elsewhere, records: [link, ...elsewhere.records] }
  }
  if (chase.budget.links === 0) return NOTHING
  chase.budget.links--
  const next = { name: target, type, links: [...links, link] }
  const found = await (type === TYPE.TXT ? chaseTexts(chase, next) : chaseAddresses(chase, next))
  if (found.kind !== 'found') return NOTHING
  const { records, truncated, denial } = found
  return { records: records.length === 0 ? [] : [link, ...records], truncated, denial }
}
