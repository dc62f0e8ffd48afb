/**
 * The hostnames that several namespaces of a cluster claim, and which claim wins, for
 * `/v1/conflicts`. The exporter decides that and stores all claims (`host-claims.ts`).
 * @module
 */
import { createSharedPause, type Turns } from '../../dns/bytes/steps.ts'
import { formatName, isSubdomain, ROOT } from '../../dns/names/name.ts'
import type { SnapshotSource } from '../../resolver/contract/host.ts'
import { recordsOf } from '../../snapshot/read/find-name.ts'
import type { Shard } from '../../snapshot/read/shard.ts'
import { CLAIMS_TYPE, readClaim, readHostKey } from '../../snapshot/records/host-claims.ts'
import { visitShards } from './whole-snapshot.ts'

/**
 * Why the first claim precedes the second: its kind comes first in `resources` of the exporter, or
 * both have one kind and its object is older.
 */
type HostReason = 'kind' | 'age'

/** A hostname that several namespaces claim. */
type HostConflict = {
  readonly host: string
  /** In the order of precedence: a client gets the first one whose namespace it sees. */
  readonly claims: readonly {
    /** Empty for objects of no namespace, such as Nodes. */
    readonly namespace: string
    /** As `KIND NAMESPACE/NAME`. */
    readonly objects: readonly string[]
    /** Whether clients that see all namespaces get this claim. */
    readonly wins: boolean
  }[]
  readonly reason: HostReason
}

/** The conflicts within the zones of one directive. */
export type HostZoneConflicts = {
  readonly zones: readonly string[]
  readonly cluster: string
  readonly freshness: string
  /** Sorted by hostname. */
  readonly conflicts: readonly HostConflict[]
  /** Whether the list is complete: the cluster could be read, and no limit was reached. */
  readonly isWhole: boolean
}

/** The zones of a directive that answers published hostnames. */
export type HostZones = {
  readonly zones: readonly Uint8Array[]
  readonly cluster: string
  readonly reader: SnapshotSource
}

const CONFLICTS_MAX = 1000
/** What precedes a hostname in the names of its HTTPS and SVCB records. */
const BINDING = /^_(?:\d+\._https|dns)\./

type Claim = {
  readonly rank: number
  readonly namespace: string
  readonly objects: readonly string[]
}

/** Reads a cluster's hostnames and lists those in these zones that have several claims. */
export async function hostConflicts(place: HostZones, turns: Turns): Promise<HostZoneConflicts> {
  const pause = createSharedPause(turns)
  const { zones, cluster, reader } = place
  const claimed = new Map<string, Claim[]>()
  let isWhole = true
  // Few names have a second claim, so the first pass bounds what the second one holds.
  const find = (shard: Shard): void => {
    for (const { host, rank } of keysOf(shard, zones)) {
      if (rank === 0 || claimed.has(host)) continue
      if (claimed.size < CONFLICTS_MAX) claimed.set(host, [])
      else isWhole = false
    }
  }
  const read = (shard: Shard): void => {
    for (const { host, rank, node } of keysOf(shard, zones)) {
      claimed.get(host)?.push({ rank, ...readObjects(shard, node) })
    }
  }
  const isFound = await visitShards(reader, find, { pause })
  const isRead = await visitShards(reader, read, { pause })
  const origins = zones.map((zone) => formatName(zone))
  // As in k8s_gateway, an absolute hostname also exists below each zone, where nobody queries it.
  // The names of its HTTPS and SVCB records have the same claims.
  const isRepeated = (host: string): boolean =>
    (BINDING.test(host) && claimed.has(host.replace(BINDING, ''))) ||
    origins.some((zone) => host.endsWith(`.${zone}`) && claimed.has(host.slice(0, -zone.length)))
  const own = [...claimed].filter(([host]) => !isRepeated(host))
  return {
    zones: origins,
    cluster,
    freshness: reader.freshness(),
    conflicts: own.sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(describeConflict),
    isWhole: isWhole && isFound && isRead,
  }
}

type Key = { readonly host: string; readonly rank: number; readonly node: number }

/** Lists the keys of a shard whose hostnames are in some zones. */
function* keysOf(shard: Shard, zones: readonly Uint8Array[]): Generator<Key> {
  for (const node of shard.nodes()) {
    // The names above hostnames are glue.
    if (shard.isImplied(node) || shard.isGlue(node)) continue
    const start = shard.nameOffset(node)
    const { labels, rank } = readHostKey(shard.bytes.subarray(start, start + shard.nameBytes(node)))
    const name = Uint8Array.of(...labels, 0)
    if (zones.some((zone) => isSubdomain(name, zone))) yield { host: formatName(name), rank, node }
  }
}

function readObjects(shard: Shard, node: number): Omit<Claim, 'rank'> {
  const records = recordsOf({ shard, node }, CLAIMS_TYPE, { owner: ROOT, origin: ROOT })
  const objects = records.map(({ rdata }) => readClaim(rdata))
  return { namespace: shard.namespaces[shard.nodeNamespaceId(node)] ?? '', objects }
}

/** Describes a conflict; none if the second pass read a newer snapshot, without it. */
function describeConflict([host, claims]: readonly [string, readonly Claim[]]): HostConflict[] {
  if (claims.length < 2) return []
  const sorted = claims.toSorted((a, b) => a.rank - b.rank)
  const [first, second] = sorted.map(({ objects: [object = ''] }) => object.split(' ', 1)[0])
  return [
    {
      host,
      claims: sorted.map(({ rank, ...claim }) => ({ ...claim, wins: rank === 0 })),
      reason: first === second ? 'age' : 'kind',
    },
  ]
}
