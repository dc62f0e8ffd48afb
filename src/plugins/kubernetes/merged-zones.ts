/**
 * Zones whose names several clusters have together (MCS-API, KEP-1645 "DNS"). A Service that some
 * ServiceImport names is what the ServiceImports say; else it is the endpoints of all clusters that
 * export it. What a cluster has alone is not here.
 * @module
 */
import type { KubernetesOptions } from '../../corefile/kubernetes-options.ts'
import { EXTENDED_ERROR, extendedError } from '../../dns/edns.ts'
import { tailOffset } from '../../dns/name.ts'
import { parseQuery, type Query } from '../../dns/query.ts'
import { RCODE } from '../../dns/rcode.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { writeQuery } from '../../dns/write-query.ts'
import type { Snapshot } from '../../snapshot/snapshot.ts'
import type { Host, SnapshotSource } from '../host.ts'
import {
  failure,
  type Next,
  type Outcome,
  type Plugin,
  type Request,
  type View,
} from '../plugin.ts'
import { fallsThrough } from '../zones.ts'
import { explainPlace } from './explain.ts'
import { conflictOf, unionOf } from './union.ts'
import { markStale } from './with-snapshot.ts'
import { type Zone, zoneOf, zonesOfDirective } from './zone.ts'
import { negativeReply, type ZoneResult, zoneReply } from './zone-reply.ts'

/** A cluster, and the names that it has together with others. */
type Member = {
  readonly cluster: string
  readonly imports: SnapshotSource
  readonly exports: SnapshotSource
}

/** What can be had of a member now. */
type Standing = {
  readonly source: SnapshotSource
  readonly snapshot: Snapshot
  readonly isStale: boolean
}

/** What members say of a name together. */
type Finding = {
  readonly results: readonly ZoneResult[]
  /** Those that were asked, the newest first. */
  readonly asked: readonly Standing[]
  /** Whether there are members that cannot be asked. */
  readonly isLacking: boolean
}

/** Labels of a Service's name below the origin: `<service>.<namespace>.svc`. */
const SERVICE_LABELS = 3
const CONFLICTS = {
  name: 'kubedoh_multicluster_conflicts_total',
  help: 'Answers in which clusters contradict each other, by what they do so in.',
  labels: ['cluster', 'conflict'],
}

/** Configures a directive with more than one cluster. */
export function mergedPlugin(options: KubernetesOptions, host: Host): Plugin {
  const zones = zonesOfDirective(options, false)
  const members = options.clusters.map((cluster): Member => {
    const open = (kind: 'multicluster' | 'exports'): SnapshotSource =>
      host.openCluster({ ...options, cluster }, { kind, cluster })
    return { cluster, imports: open('multicluster'), exports: open('exports') }
  })
  const seen = (view: View | undefined, { origin }: Zone): readonly Member[] =>
    view === undefined
      ? members
      : members.filter(({ cluster }) => view.seesOrigin(cluster, origin.bytes))
  const merged = new MergedZones(options, host)
  return {
    name: 'kubernetes',
    hides: (view, query, blockZone) => {
      const zone = zoneOf(zones, query)
      if (zone === undefined || seen(view, zone).length > 0) return false
      return tailOffset(blockZone, zone.origin.bytes) >= 0
    },
    explain: (query, { view }) => {
      const zone = zoneOf(zones, query)
      const namespaces = view?.namespaces
      return (zone === undefined ? [] : seen(view, zone)).flatMap(({ cluster, ...sources }) => {
        if (zone === undefined) return []
        const place = { zone, cluster, namespaces }
        return [
          explainPlace(query, { ...place, source: sources.imports, tree: 'multicluster' }),
          explainPlace(query, { ...place, source: sources.exports, tree: 'exports' }),
        ]
      })
    },
    isReady: () => members.some(({ imports }) => imports.current() !== undefined),
    serve: (request, next) => {
      const zone = zoneOf(zones, request.query)
      const own = zone === undefined ? [] : seen(request.client.view, zone)
      if (zone === undefined || own.length === 0) return next(request)
      if (request.type === TYPE.AXFR || request.type === TYPE.IXFR) return failure(RCODE.REFUSED)
      return merged.serve(request, { zone, members: own, next })
    },
  }
}

type Place = { readonly zone: Zone; readonly members: readonly Member[]; readonly next: Next }

class MergedZones {
  private readonly options: KubernetesOptions
  private readonly host: Host

  constructor(options: KubernetesOptions, host: Host) {
    this.options = options
    this.host = host
  }

  async serve(request: Request, { zone, members, next }: Place): Promise<Outcome> {
    const view = request.client.view
    const find = (query: Query, sources: readonly SnapshotSource[]): Promise<Finding> =>
      this.find(query, { zone, view, sources })
    const imports = members.map((member) => member.imports)
    const imported = await find(request.query, imports)
    let finding = imported
    if (!isFound(imported) && !(await this.isService(request, zone, (one) => find(one, imports)))) {
      finding = await find(
        request.query,
        members.map((member) => member.exports),
      )
    }
    const isLacking = imported.isLacking || finding.isLacking
    const [newest] = [...finding.asked, ...imported.asked]
    if (newest === undefined || (isLacking && this.options.stale === 'fail')) return lacking()
    const replies = finding.results.flatMap((one) => (one.kind === 'found' ? one.reply : []))
    const [first, ...others] = replies
    const isStale = finding.asked.some((one) => one.isStale)
    if (first !== undefined) {
      this.noteConflict(replies)
      const reply = unionOf([first, ...others])
      return isStale ? markStale(reply) : reply
    }
    // What is not known to the others may be known to who cannot be asked.
    if (isLacking) return lacking()
    const { fallthrough } = this.options
    if (fallsThrough(fallthrough, request.lowerName)) return next(request)
    const reply = negativeReply(request.query, { zone, ...newest }, RCODE.NXDOMAIN)
    return isStale ? markStale(reply) : reply
  }

  /** Whether a name is below a Service that there is, by what `find` finds. */
  private async isService(
    { lowerName, query }: Request,
    { origin }: Zone,
    find: (query: Query) => Promise<Finding>,
  ): Promise<boolean> {
    const end = tailOffset(lowerName, origin.bytes)
    const starts = Array.from(query.labels.subarray(0, query.labelCount)).filter((at) => at < end)
    const start = starts.at(-SERVICE_LABELS)
    if (start === undefined || start === starts[0]) return false
    const service = parseQuery(writeQuery({ name: lowerName.slice(start), type: TYPE.A }))
    return service.kind !== 'refusal' && isFound(await find(service))
  }

  private async find(
    query: Query,
    {
      zone,
      view,
      sources,
    }: Omit<Place, 'members' | 'next'> & {
      readonly view: View | undefined
      readonly sources: readonly SnapshotSource[]
    },
  ): Promise<Finding> {
    const all = (await Promise.all(sources.map(standingOf))).filter((one) => one !== undefined)
    all.sort((a, b) => b.snapshot.info.generation - a.snapshot.info.generation)
    const fresh = all.filter(({ isStale }) => !isStale)
    const isApart = this.options.stale === 'union' && fresh.length > 0
    const first = isApart ? fresh : all
    const ask = (asked: readonly Standing[]): Promise<ZoneResult[]> =>
      Promise.all(asked.map((one) => this.ask(query, zone, { ...one, view })))
    let finding: Finding = { results: await ask(first), asked: first, isLacking: false }
    if (!isFound(finding) && first.length < all.length) {
      finding = { results: await ask(all), asked: all, isLacking: false }
    }
    const isUnloaded = finding.results.some(({ kind }) => kind === 'unavailable')
    return { ...finding, isLacking: isUnloaded || all.length < sources.length }
  }

  private async ask(
    query: Query,
    zone: Zone,
    { snapshot, source, view }: Standing & { readonly view: View | undefined },
  ): Promise<ZoneResult> {
    const { rules } = this.options
    const namespaces = view?.namespaces
    return zoneReply(query, { zone, home: zone.origin, rules, snapshot, source, namespaces }, true)
  }

  private noteConflict(replies: Parameters<typeof conflictOf>[0]): void {
    const conflict = conflictOf(replies)
    if (conflict === undefined) return
    this.host.metrics.counter(CONFLICTS, [this.options.clusters.join(' '), conflict]).value++
  }
}

async function standingOf(source: SnapshotSource): Promise<Standing | undefined> {
  const snapshot = source.current() ?? (await source.load())
  const freshness = source.freshness()
  if (snapshot === undefined || freshness === 'expired') return undefined
  return { source, snapshot, isStale: freshness !== 'fresh' }
}

function isFound({ results }: Finding): boolean {
  return results.some(({ kind }) => kind === 'found')
}

function lacking(): Outcome {
  const text = 'not all clusters of the zone can be asked'
  return failure(RCODE.SERVFAIL, text, [extendedError(EXTENDED_ERROR.NOT_READY, text)])
}
