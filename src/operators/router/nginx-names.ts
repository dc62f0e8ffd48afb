/**
 * Hosts that nginx's table of names has room for. nginx finds a name by a hash that anybody can
 * compute: without a bound, a tenant's names of one hash make the table too large or, for minutes
 * of `nginx -t`, impossible to build, and no change of anybody would pass.
 * @module
 */
import type { RouteTable, TableHost } from '../../cluster/rules/route-table.ts'

/** Most hosts of one hash: the oldest. By chance, 10,000 hosts have two of one. */
const SAME_HASH_MAX = 8

/** Returns a table without the youngest hosts of a hash, whose objects it refuses. */
export function withDistinctNames({ hosts, verdicts }: RouteTable): RouteTable {
  const groups = Map.groupBy(hosts, ({ host }) => hashOf(host))
  const refused = new Set<TableHost>()
  for (const group of groups.values()) {
    if (group.length <= SAME_HASH_MAX) continue
    const sorted = group.toSorted((a, b) => createdMs(a) - createdMs(b))
    for (const host of sorted.slice(SAME_HASH_MAX)) refused.add(host)
  }
  if (refused.size === 0) return { hosts, verdicts }
  const names = new Set(Array.from(refused, ({ host }) => host))
  const message = `nginx has the same hash for ${SAME_HASH_MAX} older hosts`
  return {
    hosts: hosts.filter((host) => !refused.has(host)),
    verdicts: verdicts.map((verdict) => {
      const { object, refusal } = verdict
      const isRefused = refusal === undefined && object.hosts.some(({ name }) => names.has(name))
      if (!isRefused) return verdict
      return { object, refusal: { reason: 'ConfigurationRefused', message } }
    }),
  }
}

/** Returns the lower half of nginx's hash: names whose hashes are equal have equal halves. */
function hashOf(host: string): number {
  let hash = 0
  for (let i = 0; i < host.length; i++) hash = (Math.imul(hash, 31) + host.charCodeAt(i)) | 0
  return hash
}

/** Returns when the oldest object of a host was created. */
function createdMs({ routes }: TableHost): number {
  return Math.min(...routes.map(({ object }) => object.createdMs))
}
