/**
 * Claims of objects to one hostname, and how they combine.
 * @module
 */
import { type Coverage, wider } from '../../snapshot/records/host-claims.ts'
import type { Targets } from '../rules/host-names.ts'
import type { Naming } from '../rules/object-hosts.ts'
import { withoutCnameMix } from './record-verdicts.ts'

/** An object with a hostname, and its targets: at least one. */
export type Claim = Targets & { readonly object: Naming }

/** Returns the claims of one namespace that share a hostname: those of the first kind. */
export function sharing(own: readonly Claim[]): readonly Claim[] {
  return withoutCnameMix(own.filter(({ object }) => object.kind === own[0]?.object.kind))
}

/** Joins targets; the lowest TTL counts, and the widest coverage. */
export function joinTargets(some: readonly Targets[]): Targets {
  // Not `Math.min(...ttls)`: there may be more than a call has room for.
  const lowest = some.reduce(
    (least, { ttlSeconds = least }) => Math.min(least, ttlSeconds),
    Number.POSITIVE_INFINITY,
  )
  return {
    hosts: some.flatMap(({ hosts }) => hosts),
    texts: some.flatMap(({ texts }) => texts),
    records: some.flatMap(({ records }) => records),
    bindings: some.flatMap(({ bindings }) => bindings),
    isAlias: some.some(({ isAlias }) => isAlias),
    coverage: some.reduce<Coverage>((most, { coverage }) => wider(most, coverage), 'label'),
    ttlSeconds: lowest === Number.POSITIVE_INFINITY ? undefined : lowest,
  }
}

/** Returns whether there is no target. */
export function isEmpty({ hosts, texts, records, bindings }: Targets): boolean {
  return hosts.length + texts.length + records.length + bindings.length === 0
}

/** Returns when the claiming object was created, in milliseconds since 1970; 0 if unknown. */
export function createdMs({ object }: Claim): number {
  return (object.kind === 'Service' ? object.outside?.createdMs : object.createdMs) ?? 0
}
