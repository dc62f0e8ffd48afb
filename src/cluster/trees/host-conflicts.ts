/**
 * Hostnames that objects of several namespaces claim.
 * @module
 */
import { describeObject } from '../objects/objects.ts'
import { fairShare, type SharedBound } from '../rules/fair-shares.ts'
import type { Naming } from '../rules/object-hosts.ts'

/** A hostname that several namespaces claim. */
export type HostConflict = {
  readonly host: string
  /** The first object of each namespace, at most `CLAIMS_MAX`; the one that wins first. */
  readonly objects: readonly Naming[]
}

/** Most conflicts that are reported, of a namespace whose object came last, and of all. */
const REPORTED: SharedBound = { eachMax: 50, wholeMax: 200 }

/** The conflicts of a cluster. */
export class HostConflicts {
  /** By the namespace that came last, then by hostname. */
  private readonly byNamespace = new Map<string, Map<string, HostConflict>>()
  private readonly namespaces = new Map<string, string>()

  /** Sets the conflict of a hostname; `undefined` for none. */
  set(host: string, conflict: HostConflict | undefined): void {
    const before = this.namespaces.get(host)
    const after = conflict?.objects.at(-1)?.namespace
    if (before !== undefined && before !== after) {
      const others = this.byNamespace.get(before)
      others?.delete(host)
      if (others?.size === 0) this.byNamespace.delete(before)
      this.namespaces.delete(host)
    }
    if (conflict === undefined || after === undefined) return
    const own = this.byNamespace.get(after) ?? new Map<string, HostConflict>()
    this.byNamespace.set(after, own.set(host, conflict))
    this.namespaces.set(host, after)
  }

  /** Returns those that are reported. No namespace has more than its share of them. */
  some(): readonly HostConflict[] {
    const all = [...this.byNamespace.values()]
    const share = fairShare(
      all.map(({ size }) => size),
      REPORTED,
    )
    return all.flatMap((own) => [...own.values()].slice(0, share)).slice(0, REPORTED.wholeMax)
  }
}

/** Returns a warning, which names the first two objects. */
export function describeConflict({ host, objects }: HostConflict): string {
  const [winner = '', loser = '', ...more] = objects.map(describeObject)
  const others = more.length > 0 ? ` and ${more.length} more` : ''
  const why = 'the first kind in "resources" wins, then the older object'
  return `${loser}${others}: ${host} belongs to ${winner}: ${why}`
}
