/**
 * The `kubernetes` plugin with its parts for other plugins: metadata, transfers, and the search
 * lists of Pods (resolv.conf(5), as the kubelet writes it), found by client address.
 * @module
 */

import { joinName, parseRelativeName, ROOT } from '../../../dns/names/name.ts'
import { parseClientAddress } from '../../../dns/names/network.ts'
import type { Query } from '../../../dns/wire/query.ts'
import type { Snapshot } from '../../../snapshot/read/snapshot.ts'
import type { Client } from '../../contract/client.ts'
import type { SnapshotSource } from '../../contract/host.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Setup } from '../../contract/setup.ts'
import { parseSearchList } from '../../plugin-kit/search-list.ts'
import { clusterMetadata } from './metadata.ts'
import { createKubernetesSetup, kubernetesPlugin } from './setup.ts'
import { type Zone, type Zones, zoneOf } from './zone.ts'
import { clusterTransfer } from './zone-transfer.ts'

/** A client's search list per zone, filled on demand. */
type Lists = Map<Zone, readonly Uint8Array[] | undefined>

/** Clients in the cache; a further client empties it. */
const CLIENTS_MAX = 4096
const SVC = Uint8Array.of(3, 0x73, 0x76, 0x63)

/** The search lists below the zones of one directive. */
export class SearchPaths {
  private readonly zones: Zones
  private readonly source: SnapshotSource
  private readonly machine: readonly Uint8Array[]
  private readonly known = new Map<string, Lists>()
  private snapshot: Snapshot | undefined

  /** @param machine this machine's search list, which Pods inherit after theirs */
  constructor(zones: Zones, source: SnapshotSource, machine: readonly Uint8Array[]) {
    this.zones = zones
    this.source = source
    this.machine = machine
  }

  /**
   * Returns the search list of a client for the zone of its query. Clients with a view are no Pods
   * and have none. Allocates nothing for a cached client.
   */
  of(query: Query, { address, visibility }: Client): readonly Uint8Array[] | undefined {
    const zone = zoneOf(this.zones, query)
    const snapshot = this.source.current()
    if (zone === undefined || snapshot === undefined || visibility !== undefined) return undefined
    if (snapshot !== this.snapshot || this.known.size > CLIENTS_MAX) this.known.clear()
    this.snapshot = snapshot
    const lists: Lists = this.known.get(address) ?? new Map()
    if (lists.has(zone)) return lists.get(zone)
    const list = this.listOf(podNamespace(snapshot, address), zone)
    this.known.set(address, lists.set(zone, list))
    return list
  }

  private listOf(
    namespace: string | undefined,
    { origin }: Zone,
  ): readonly Uint8Array[] | undefined {
    const label = namespace === undefined ? undefined : parseRelativeName(namespace)
    const services = joinName(SVC, origin.bytes)
    const own = label && services && joinName(label, services)
    if (own === undefined || services === undefined) return undefined
    return [own, services, origin.bytes, ...this.machine, ROOT]
  }
}

/** Returns the namespace of the Pod with an address; if several share it, the first in order. */
export function podNamespace(snapshot: Snapshot, text: string): string | undefined {
  const address = parseClientAddress(text)
  if (address === undefined) return undefined
  const shard = snapshot.shards[snapshot.shardOfAddress(address)]
  if (shard === undefined) return undefined
  const table = address.length === 4 ? shard.addresses4 : shard.addresses6
  for (let i = table.firstFrom(address); table.hasPrefix(i, address, 8 * address.length); i++) {
    if (table.isPod(i)) return shard.namespaces[table.namespaceId(i)]
  }
  return undefined
}

const setup: Setup = createKubernetesSetup((parts, { host }) => {
  const { zones, source } = parts
  const machine = parseSearchList(host.readText('/etc/resolv.conf') ?? '')
  const searchPaths = new SearchPaths(zones, source, machine)
  return {
    transfer: (name, serial) => clusterTransfer(parts, name, serial),
    metadata: (label, request) => clusterMetadata(label, request, parts),
    searchPath: (query, client) => searchPaths.of(query, client),
  }
})

/** The entry of `kubernetes` on Node. */
export const kubernetesForPeersPlugin: PluginEntry = { ...kubernetesPlugin, setup }
