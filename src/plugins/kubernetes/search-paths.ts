/**
 * The search lists that Pods have (resolv.conf(5), as the kubelet writes it): found by the address
 * of a client among those of verified Pods.
 * @module
 */

import type { Client } from '../../chain/client.ts'
import type { SnapshotSource } from '../../chain/host.ts'
import { joinName, parseRelativeName, ROOT } from '../../dns/name.ts'
import { parseClientAddress } from '../../dns/network.ts'
import type { Query } from '../../dns/query.ts'
import type { Snapshot } from '../../snapshot/read/snapshot.ts'
import { type Zone, type Zones, zoneOf } from './zone.ts'

/** A client's list for each zone, as far as it was asked for. */
type Lists = Map<Zone, readonly Uint8Array[] | undefined>

/** Clients whose lists are kept at hand; one more, and it restarts. */
const CLIENTS_MAX = 4096
const SVC = Uint8Array.of(3, 0x73, 0x76, 0x63)

/** The search lists below the zones of one directive. */
export class SearchPaths {
  private readonly zones: Zones
  private readonly source: SnapshotSource
  private readonly machine: readonly Uint8Array[]
  private readonly known = new Map<string, Lists>()
  private snapshot: Snapshot | undefined

  /** @param machine what the list of this machine has, which Pods inherit behind their own */
  constructor(zones: Zones, source: SnapshotSource, machine: readonly Uint8Array[]) {
    this.zones = zones
    this.source = source
    this.machine = machine
  }

  /**
   * Finds the search list of a client for the zone that its query is in. Who has a view is no Pod,
   * and has none. Allocates nothing for a client that is known.
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

/** The namespace of a Pod with an address; of several, that of the first in order. */
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
