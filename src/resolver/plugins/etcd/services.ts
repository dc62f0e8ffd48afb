/**
 * Finds the services of a name, with their TTLs (CoreDNS, plugin/etcd/etcd.go).
 * @module
 */
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { Rules } from '../kubernetes/nxdomain-rules.ts'
import { beginsWith, keyPattern } from './key-path.ts'
import type { KeyEntry, KeyTable } from './key-table.ts'
import { type EtcdService, ofOneGroup } from './service.ts'

/** The keys that a look-up searches. */
export type Searched = {
  readonly keys: KeyTable
  /** The prefix of all keys. */
  readonly path: string
  /** The rules that decide whether a name exists for a type. */
  readonly rules: Rules
  readonly leaseSecondsMin: number
  readonly leaseSecondsMax: number
  /** Lower bound of the seconds until a lease ends; `undefined` to ignore the lease. */
  readonly leaseSeconds: (lease: string) => number | undefined
}

/** The services of a name in the order of their keys, none, or an invalid one. */
export type Services =
  | {
      readonly kind: 'found'
      readonly services: readonly EtcdService[]
      /** Whether there are more than a response can hold. */
      readonly isCut: boolean
    }
  | { readonly kind: 'absent' }
  | { readonly kind: 'broken'; readonly reason: string }

/** How to look for a name. */
export type Search = {
  /** In lower case: only such keys are found. */
  readonly name: Uint8Array
  readonly type: number
  /** Whether keys below the name's replace the name's own. */
  readonly includesBelow: boolean
}

/** Services of one response: no message has room for more records. */
const SERVICES_MAX = 8192
/** Keys that one look-up visits. */
const KEYS_MAX = 131_072
const TTL_SECONDS_DEFAULT = 300

/** Finds the services of a name. */
export function findServices(searched: Searched, search: Search): Services {
  const { path, parts } = keyPattern(search.name, searched.path)
  const services: EtcdService[] = []
  let count = 0
  for (const [key, entry] of entriesOf(searched.keys, path, search.includesBelow)) {
    if (services.length === SERVICES_MAX || count === KEYS_MAX) {
      return { kind: 'found', services: ofOneGroup(services), isCut: true }
    }
    count++
    if (parts !== undefined && !beginsWith(key, parts)) continue
    if (typeof entry === 'string') return { kind: 'broken', reason: `${key}: ${entry}` }
    if (suits(entry, search.type)) {
      services.push({ ...entry, ttlSeconds: ttlOf(entry, searched) })
    }
  }
  if (count === 0) return { kind: 'absent' }
  return { kind: 'found', services: ofOneGroup(services), isCut: false }
}

/** Lists the keys below a path; if there are none, the key of the path itself. */
function* entriesOf(
  keys: KeyTable,
  path: string,
  includesBelow: boolean,
): Generator<[string, KeyEntry]> {
  let isAlone = true
  if (includesBelow) {
    for (const found of keys.below(`${path}/`)) {
      isAlone = false
      yield found
    }
  }
  const own = isAlone ? keys.find(path) : undefined
  if (own !== undefined) yield [path, own]
}

/** Whether a service counts for a type. One without a host counts for its text only. */
function suits({ host, text }: EtcdService, type: number): boolean {
  return host !== '' || (type === TYPE.TXT && text !== '')
}

/** Returns the lower of a service's TTL and the rest of its lease, within bounds. */
function ttlOf({ ttlSeconds, lease }: EtcdService, searched: Searched): number {
  const left = lease === '' ? undefined : searched.leaseSeconds(lease)
  if (left === undefined || left <= 0) return ttlSeconds || TTL_SECONDS_DEFAULT
  const { leaseSecondsMin, leaseSecondsMax } = searched
  const bounded = left < leaseSecondsMin ? leaseSecondsMin : Math.min(left, leaseSecondsMax)
  return ttlSeconds === 0 ? bounded : Math.min(bounded, ttlSeconds)
}
