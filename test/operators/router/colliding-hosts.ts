/**
 * Tables of routes for tests of nginx's table of names.
 * @module
 */
import type { HostObject } from '../../../src/cluster/objects/objects.ts'
import { parseObject } from '../../../src/cluster/objects/parse-object.ts'
import { type RouteTable, routeTable } from '../../../src/cluster/rules/route-table.ts'

/** Returns different hosts that have one hash in nginx: "an" and "c0" add the same to it. */
export function collidingHosts(count: number, below = 'apps.test'): string[] {
  return Array.from({ length: count }, (_, i) => {
    const pairs = Array.from({ length: 12 }, (_pair, bit) => ((i >> bit) & 1 ? 'an' : 'c0'))
    return `${pairs.join('')}.${below}`
  })
}

/** Which paths the hosts of a table have, and in how many namespaces they are. */
type TableOptions = {
  readonly pathsOf?: (host: number) => readonly string[]
  readonly namespaces?: number
}

/** Builds the table of these hosts, each of one object, the oldest first. */
export function tableOfHosts(
  hosts: readonly string[],
  { pathsOf = () => ['/'], namespaces = 100 }: TableOptions = {},
): RouteTable {
  const objects = hosts.map((host, i): HostObject => {
    const metadata = { name: `r${i}`, namespace: `n${i % namespaces}`, uid: `u${i}`, generation: 1 }
    const paths = pathsOf(i).map((path) => ({ path, service: 'web', port: 80 }))
    const object = parseObject({ kind: 'HostRoute', metadata, spec: { host, paths } })
    if (object?.kind !== 'HostRoute') throw new TypeError(JSON.stringify(object))
    return { ...object, createdMs: i }
  })
  return routeTable(objects, {
    recordZones: [{ namespace: '*', zones: [''] }],
    serviceOf: () =>
      ({ clusterIPs: ['127.0.0.1'], ports: [{ port: 80, protocol: 'TCP' }] }) as never,
  })
}
