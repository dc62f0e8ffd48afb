/**
 * Hostnames that objects of several namespaces claim.
 * @module
 */
import { describeObject } from '../objects/objects.ts'
import type { Naming } from '../rules/object-hosts.ts'

/** A hostname that several namespaces claim. */
export type HostConflict = {
  readonly host: string
  /** The first object of each namespace, at most `CLAIMS_MAX`; the one that wins first. */
  readonly objects: readonly Naming[]
}

/** Returns a warning, which names the first two objects. */
export function describeConflict({ host, objects }: HostConflict): string {
  const [winner = '', loser = '', ...more] = objects.map(describeObject)
  const others = more.length > 0 ? ` and ${more.length} more` : ''
  const why = 'the first kind in "resources" wins, then the older object'
  return `${loser}${others}: ${host} belongs to ${winner}: ${why}`
}
