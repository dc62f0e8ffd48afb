/**
 * Counts queries for which there is no server block. As in CoreDNS, they count under the zone
 * `dropped` if any server block has `prometheus`.
 * @module
 */

import type { Client } from '../contract/client.ts'
import type { Host } from '../contract/host.ts'
import type { Observation } from '../contract/observation.ts'
import { RequestCounts, serverIndex } from '../contract/request-counts.ts'
import { serverAddresses } from '../contract/server-address.ts'
import type { Chain } from './chain.ts'
import type { Listener } from './listener.ts'

const ZONE = 'dropped'

/** Counts for one listener. */
type Count = (observation: Observation) => void

/** Counts the queries that listeners refuse. */
export class DroppedCounts {
  private readonly counts: ReadonlyMap<Listener, Count>

  constructor(listeners: readonly Listener[], chains: readonly Chain[], host: Host) {
    const isCounted = chains.some(({ features }) => features.some(({ kind }) => kind === 'metrics'))
    const counted = isCounted ? listeners : []
    this.counts = new Map(counted.map((listener) => [listener, countsOf(listener, host)]))
  }

  /** Counts a query that was refused with a reply. */
  count(listener: Listener, refused: Pick<Observation, 'query' | 'client' | 'reply'>): void {
    const replyBytes = refused.reply.length
    this.counts.get(listener)?.({ ...refused, replyBytes, plugin: '', durationMs: 0 })
  }
}

function countsOf({ transport, port, addresses }: Listener, { metrics }: Host): Count {
  const servers = serverAddresses(transport, port, addresses)
  const counts = servers.map(({ name }) => new RequestCounts(metrics, [name, ZONE, '']))
  const of = (client: Client): RequestCounts | undefined => counts[serverIndex(servers, client)]
  return (observation) => of(observation.client)?.count(observation)
}
