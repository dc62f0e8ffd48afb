/**
 * Zones of names that several clusters share (MCS-API, KEP-1645 "DNS"). If any cluster has a
 * ServiceImport for a Service, ServiceImports decide, or the winning one (`shared-service.ts`);
 * otherwise the answer joins the endpoints of all exporting clusters. Names of single clusters are
 * not here.
 * @module
 */

import type { KubernetesOptions } from '../../../corefile/kubernetes-options.ts'
import { toLatin1 } from '../../../dns/bytes/bytes.ts'
import { tailOffset } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { isTransferType } from '../../../dns/names/rr-type.ts'
import { metricInfo } from '../../../dns/telemetry/metrics.ts'
import { EXTENDED_ERROR, extendedError } from '../../../dns/wire/edns.ts'
import type { Reply, ResourceRecord } from '../../../dns/wire/message.ts'
import type { Query } from '../../../dns/wire/query.ts'
import { infoFor, type Snapshot } from '../../../snapshot/read/snapshot.ts'
import type { Visibility } from '../../../snapshot/read/visibility.ts'
import type { ClientVisibility } from '../../contract/client.ts'
import type { Host, SnapshotSource } from '../../contract/host.ts'
import { failure, type Outcome } from '../../contract/outcome.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { Next, Request } from '../../contract/request.ts'
import { fallsThrough } from '../../plugin-kit/zones.ts'
import { explainPlace } from './explain/explain.ts'
import {
  type Conflict,
  conflictAmong,
  readShape,
  type ServiceShape,
  winnersOf,
} from './shared-service.ts'
import { markStale } from './with-snapshot.ts'
import { type Zone, zoneOf, zonesOfDirective } from './zone.ts'
import { negativeReply, type ZoneResult, zoneReply } from './zone-reply.ts'

/** A cluster and its sources of shared names. */
type Member = {
  readonly cluster: string
  readonly imports: SnapshotSource
  readonly exports: SnapshotSource
}

/** The current snapshot of a member. */
type LoadedMember = {
  readonly source: SnapshotSource
  readonly snapshot: Snapshot
  readonly isStale: boolean
}

/** The results of several members for a name. */
type Finding = {
  readonly results: readonly ZoneResult[]
  /** The members that were queried. */
  readonly queried: readonly LoadedMember[]
  /** Whether one of them has the Service. */
  readonly hasService: boolean
  readonly conflict: Conflict | undefined
  /** Whether some member was unavailable. */
  readonly isIncomplete: boolean
}

/** Labels of a Service's name below the origin: `<service>.<namespace>.svc`. */
const SERVICE_LABELS = 3
const CONFLICTS = metricInfo(
  'kubedoh_multicluster_conflicts_total',
  'Answers for which clusters published conflicting Services, by kind of conflict.',
  'cluster conflict',
)

/** Configures a directive with more than one cluster. */
export function mergedPlugin(options: KubernetesOptions, host: Host): Plugin {
  const zones = zonesOfDirective(options, false)
  const members = options.clusters.map((cluster): Member => {
    const open = (kind: 'multicluster' | 'exports'): SnapshotSource =>
      host.openCluster({ ...options, cluster }, { kind, cluster })
    return { cluster, imports: open('multicluster'), exports: open('exports') }
  })
  const seen = (visibility: ClientVisibility | undefined, { origin }: Zone): readonly Member[] =>
    visibility === undefined
      ? members
      : members.filter(({ cluster }) => visibility.seesOrigin(cluster, origin.bytes))
  const seenZone = (query: Query, visibility: ClientVisibility | undefined): Zone | undefined =>
    zoneOf(zones, query, (zone) => seen(visibility, zone).length > 0)
  const merged = new MergedZones(options, host)
  return {
    name: 'kubernetes',
    hides: (visibility, query, blockZone) => {
      const zone = zoneOf(zones, query)
      if (zone === undefined || seenZone(query, visibility) !== undefined) return false
      return tailOffset(blockZone, zone.origin.bytes) >= 0
    },
    explain: async (query, { visibility }) => {
      const zone = seenZone(query, visibility)
      if (zone === undefined) return []
      const facts = seen(visibility, zone).flatMap(({ cluster, imports, exports }) => {
        const { rules } = options
        const home = zones.home.bytes
        const place = { zone, cluster, visibility, home, rules, turns: host }
        return [
          explainPlace(query, { ...place, source: imports, tree: 'multicluster' }),
          explainPlace(query, { ...place, source: exports, tree: 'exports' }),
        ]
      })
      return (await Promise.all(facts)).flat()
    },
    isReady: () => members.some(({ imports }) => imports.current() !== undefined),
    serve: (request, next) => {
      const { visibility } = request.client
      const zone = seenZone(request.query, visibility)
      if (zone === undefined) return next(request)
      if (isTransferType(request.type)) return failure(RCODE.REFUSED)
      return merged.serve(request, { zone, members: seen(visibility, zone), next })
    },
  }
}

type Place = { readonly zone: Zone; readonly members: readonly Member[]; readonly next: Next }

/** A query, its client's visibility, and its Service. */
type Question = {
  readonly query: Query
  readonly zone: Zone
  readonly visibility: ClientVisibility | undefined
  /** The Service's labels below the origin. */
  readonly service: Uint8Array | undefined
}

class MergedZones {
  private readonly options: KubernetesOptions
  private readonly host: Host

  constructor(options: KubernetesOptions, host: Host) {
    this.options = options
    this.host = host
  }

  async serve(request: Request, { zone, members, next }: Place): Promise<Outcome> {
    const { visibility } = request.client
    const { query } = request
    const service = serviceIn(request, zone)
    const find = (sources: readonly SnapshotSource[]): Promise<Finding> =>
      this.find({ query, zone, visibility, service }, sources)
    const imported = await find(members.map(({ imports }) => imports))
    // At least one member must know whether a ServiceImport exists.
    if (imported.results.length === 0) return notReady()
    // ServiceImports decide about all names below their Service.
    const isDecided = isFound(imported) || imported.hasService
    const finding = isDecided ? imported : await find(members.map((member) => member.exports))
    const isIncomplete = imported.isIncomplete || finding.isIncomplete
    const namespaces = visibility?.namespaces
    const newest = newestOf(finding.queried, namespaces) ?? newestOf(imported.queried, namespaces)
    if (newest === undefined || (isIncomplete && this.options.stale === 'fail')) return notReady()
    const replies = finding.results.flatMap((one) => (one.kind === 'found' ? one.reply : []))
    const [first, ...others] = replies
    const isStale = finding.queried.some((one) => one.isStale)
    if (first !== undefined) {
      this.countConflict(finding.conflict)
      const reply = unionOf([first, ...others])
      return isStale ? markStale(reply) : reply
    }
    // An unavailable member may have the name.
    if (isIncomplete) return notReady()
    const { fallthrough } = this.options
    if (fallsThrough(fallthrough, request.lowerName)) return next(request)
    const { snapshot } = newestOf(finding.results.flatMap(negativeResult), namespaces) ?? newest
    const reply = negativeReply(query, { zone, snapshot, visibility }, RCODE.NXDOMAIN)
    return isStale ? markStale(reply) : reply
  }

  /** Queries the fresh members; queries all if no fresh member has the name. */
  private async find(question: Question, sources: readonly SnapshotSource[]): Promise<Finding> {
    const all = (
      await Promise.all(sources.map((one) => loadMember(one, question.visibility?.namespaces)))
    ).filter((one) => one !== undefined)
    const fresh = all.filter(({ isStale }) => !isStale)
    const prefersFresh = this.options.stale === 'union' && fresh.length > 0
    const first = prefersFresh ? fresh : all
    let finding = await this.ask(question, first)
    if (!isFound(finding) && first.length < all.length) finding = await this.ask(question, all)
    return { ...finding, isIncomplete: finding.isIncomplete || all.length < sources.length }
  }

  /** Queries the winning members in the order of the directive. */
  private async ask(question: Question, queried: readonly LoadedMember[]): Promise<Finding> {
    const { zone, visibility, query } = question
    const { rules } = this.options
    const shaped = await Promise.all(
      queried.map(async (one) => ({ ...one, shape: await shapeOf(question, one) })),
    )
    // A member of unknown shape is skipped: the Service may have another shape there.
    const members = shaped.flatMap(({ shape, ...one }) =>
      shape === 'unavailable' ? [] : [{ ...one, shape }],
    )
    const results = await Promise.all(
      winnersOf(members).map(({ snapshot, source }) =>
        zoneReply(query, { zone, home: zone.origin, rules, snapshot, source, visibility }, true),
      ),
    )
    const isUnloaded = results.some(({ kind }) => kind === 'unavailable')
    return {
      results,
      queried,
      hasService: members.some(({ shape }) => shape !== undefined),
      conflict: conflictAmong(members.map(({ shape }) => shape)),
      isIncomplete: isUnloaded || members.length < queried.length,
    }
  }

  private countConflict(conflict: Conflict | undefined): void {
    if (conflict === undefined) return
    this.host.metrics.counter(CONFLICTS, [this.options.clusters.join(' '), conflict]).value++
  }
}

/** Returns the labels of the Service at or above the query name; `undefined` if there is none. */
function serviceIn({ lowerName, query }: Request, { origin }: Zone): Uint8Array | undefined {
  const end = tailOffset(lowerName, origin.bytes)
  const starts = Array.from(query.labels.subarray(0, query.labelCount)).filter((at) => at < end)
  const start = starts.at(-SERVICE_LABELS)
  return start === undefined ? undefined : lowerName.slice(start, end)
}

/** Returns the shape of the Service at a member, as far as the client sees it. */
async function shapeOf(
  { service, visibility }: Question,
  { snapshot, source }: LoadedMember,
): Promise<ServiceShape | 'unavailable' | undefined> {
  if (service === undefined) return undefined
  const size = service.length
  const index = snapshot.shardOfName(service, size)
  let shard = snapshot.shards[index]
  if (shard === undefined) {
    const loaded = await source.load(index)
    shard = loaded?.shards[loaded.shardOfName(service, size)]
  }
  if (shard === undefined) return 'unavailable'
  const node = shard.findNode(service, size)
  const isHidden =
    node !== 0 && visibility?.namespaces?.has(shard, shard.nodeNamespaceId(node)) === false
  return isHidden ? undefined : readShape(shard, node)
}

/** Returns the member with the newest visible snapshot; on a tie, the first. */
function newestOf<T extends { readonly snapshot: Snapshot }>(
  all: readonly T[],
  namespaces: Visibility | undefined,
): T | undefined {
  const generationOf = ({ snapshot }: T): number => infoFor(snapshot, namespaces).generation
  return all.toSorted((a, b) => generationOf(b) - generationOf(a))[0]
}

/** Returns the result if it is NXDOMAIN, else an empty list. */
function negativeResult(result: ZoneResult): readonly { readonly snapshot: Snapshot }[] {
  return result.kind === 'absent' ? [result] : []
}

async function loadMember(
  source: SnapshotSource,
  namespaces: Visibility | undefined,
): Promise<LoadedMember | undefined> {
  const snapshot = source.current() ?? (await source.load())
  const freshness = source.freshness(namespaces)
  if (snapshot === undefined || freshness === 'expired') return undefined
  return { source, snapshot, isStale: freshness !== 'fresh' }
}

function isFound({ results }: Finding): boolean {
  return results.some(({ kind }) => kind === 'found')
}

function notReady(): Outcome {
  const text = 'some clusters of the zone are unavailable'
  return failure(RCODE.SERVFAIL, text, [extendedError(EXTENDED_ERROR.NOT_READY, text)])
}

/**
 * Joins replies for an existing name: each record once, with the lowest TTL of its RRset (RFC 2181
 * §5.2). Without data, returns the first reply.
 */
export function unionOf(replies: readonly [Reply, ...Reply[]]): Reply {
  const [first] = replies
  const withData = replies.filter(({ answer }) => answer.length > 0)
  if (withData.length === 0) return first
  const answer = distinct(withData.flatMap((reply) => reply.answer))
  const additional = distinct(withData.flatMap((reply) => reply.additional))
  const truncated = withData.some((reply) => reply.truncated)
  return { ...first, answer, authority: [], additional, truncated }
}

function distinct(records: readonly ResourceRecord[]): ResourceRecord[] {
  const ttls = new Map<string, number>()
  const byData = new Map<string, ResourceRecord>()
  for (const record of records) {
    const set = `${toLatin1(record.owner)} ${record.type}`
    ttls.set(set, Math.min(ttls.get(set) ?? Infinity, record.ttlSeconds))
    byData.set(`${set} ${toLatin1(record.rdata)}`, record)
  }
  return [...byData.values()].map((record) => {
    const ttlSeconds = ttls.get(`${toLatin1(record.owner)} ${record.type}`) ?? record.ttlSeconds
    return { ...record, ttlSeconds }
  })
}
