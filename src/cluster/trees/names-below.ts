/**
 * Names that exist because of hostnames below them (RFC 8020), each with the namespaces of these
 * hostnames. A wildcard is a hostname like others (RFC 4592 §2.2.2).
 * @module
 */
import { parseName } from '../../dns/names/name.ts'
import { BELOW_TYPE, belowKey } from '../../snapshot/records/host-claims.ts'
import type { ZoneEntry } from '../../snapshot/records/zone-entry.ts'
import { isWithin } from '../rules/host-names.ts'

/** The names above the published hostnames, up to the apex of their zone. */
export class NamesBelow {
  private readonly zones: readonly string[]
  /** The namespaces of each hostname. */
  private readonly published = new Map<string, readonly string[]>()
  /** How many hostnames below a name each namespace has. */
  private readonly below = new Map<string, Map<string, number>>()

  /** @param zones in lower case, without the final dot; '' for the root */
  constructor(zones: readonly string[]) {
    this.zones = zones
  }

  /** Returns all names that exist because of others. */
  names(): Iterable<string> {
    return this.below.keys()
  }

  /**
   * Sets the namespaces that publish a hostname; none where it is not published.
   * @returns the names above it whose namespaces change
   */
  set(hostname: string, namespaces: readonly string[]): readonly string[] {
    const before = this.published.get(hostname) ?? []
    const gone = before.filter((one) => !namespaces.includes(one))
    const added = namespaces.filter((one) => !before.includes(one))
    if (gone.length + added.length === 0) return []
    if (namespaces.length === 0) this.published.delete(hostname)
    else this.published.set(hostname, namespaces)
    return this.namesAbove(hostname).filter((name) => {
      const counts = this.below.get(name) ?? new Map<string, number>()
      this.below.set(name, counts)
      // Both must be counted, also where the first one has changed the name.
      const changes = [
        ...added.map((one) => count(counts, one, 1)),
        ...gone.map((one) => count(counts, one, -1)),
      ]
      if (counts.size === 0) this.below.delete(name)
      return changes.includes(true)
    })
  }

  /** Returns the entry of a name; none if no hostname is below it. */
  entriesOf(name: string): readonly ZoneEntry[] {
    const namespaces = [...(this.below.get(name)?.keys() ?? [])].sort()
    const labels = parseName(name)?.subarray(0, -1)
    const owner = labels && belowKey(labels)
    if (namespaces.length === 0 || owner === undefined) return []
    const rdata = namespaces.map((one) => ({ bytes: new TextEncoder().encode(one) }))
    // Readers that do not know it pass over what is for the additional section.
    const common = { kind: 'records', namespace: '', ttlSeconds: 0, isGlue: true } as const
    return [{ ...common, owner, type: BELOW_TYPE, rdata }]
  }

  private namesAbove(hostname: string): string[] {
    const zone = this.zones.reduce<string | undefined>((longest, one) => {
      return isWithin(hostname, one) && one.length >= (longest?.length ?? 0) ? one : longest
    }, undefined)
    if (zone === undefined || hostname === zone) return []
    const names: string[] = []
    for (let at = hostname.indexOf('.'); at >= 0; at = hostname.indexOf('.', at + 1)) {
      const name = hostname.slice(at + 1)
      names.push(name)
      if (name === zone) break
    }
    return names
  }
}

/** Adds to the count of a namespace. Returns whether it began or ended to have some. */
function count(counts: Map<string, number>, namespace: string, by: number): boolean {
  const before = counts.get(namespace) ?? 0
  const after = before + by
  if (after === 0) counts.delete(namespace)
  else counts.set(namespace, after)
  return (before === 0) !== (after === 0)
}
