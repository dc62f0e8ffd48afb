/**
 * The `kubernetes` plugin: answers the names of a cluster from its snapshots.
 * @module
 */

import { onlyDirective } from '../../../corefile/arguments.ts'
import {
  KUBERNETES_SHAPING_OPTIONS,
  type KubernetesOptions,
  parseKubernetes,
} from '../../../corefile/kubernetes-options.ts'
import { configError, type Problem, problemAt } from '../../../corefile/problem.ts'
import type { Directive } from '../../../corefile/server-block.ts'
import { EVERY_CLUSTER } from '../../../corefile/wildcard-zone.ts'
import { isSubdomain } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { isTransferType, TYPE } from '../../../dns/names/rr-type.ts'
import type { Query } from '../../../dns/wire/query.ts'
import type { Snapshot } from '../../../snapshot/read/snapshot.ts'
import type { ClientVisibility } from '../../contract/client.ts'
import type { SnapshotSource } from '../../contract/host.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import { failure, type Outcome } from '../../contract/outcome.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { DirectiveSurroundings, PluginEntry } from '../../contract/plugin-entry.ts'
import type { Next, Request } from '../../contract/request.ts'
import type { Setup, SetupContext, SetupResult } from '../../contract/setup.ts'
import { type Fallthrough, fallsThrough } from '../../plugin-kit/zones.ts'
import { cnameReply, rebaseCnames } from './cname-reply.ts'
import { EachCluster } from './each-cluster.ts'
import { explainPlace } from './explain/explain.ts'
import { FastAnswer } from './fast-answer.ts'
import { mergedPlugin } from './merged-zones.ts'
import { isComplete, negativeFrom, unavailable, withSnapshot } from './with-snapshot.ts'
import { type Zone, type Zones, zoneOf, zonesOfDirective } from './zone.ts'
import { negativeReply, type ZonePlace, zoneReply } from './zone-reply.ts'

/** The sources of a directive for its parts that other plugins call. */
type ClusterParts = {
  readonly zones: Zones
  readonly source: SnapshotSource
  /** The source of names that several clusters share. */
  readonly sharedSource: SnapshotSource
  /** Whether names may select an availability zone. */
  readonly isZonal: boolean
}

/** Creates the parts of `kubernetes` that other plugins call. */
type PeerParts = (
  parts: ClusterParts,
  context: SetupContext,
) => Pick<Plugin, 'transfer' | 'metadata' | 'searchPath'>

/** The entry of `kubernetes` without the parts for plugins on Node. */
export const kubernetesPlugin: PluginEntry = {
  name: 'kubernetes',
  gateways: {
    at: 'gateway',
    is: 'other',
    because: "its names are those that the exporter publishes, by the exporter's own Corefile",
    idleOptions: KUBERNETES_SHAPING_OPTIONS,
  },
  hasListArgs: true,
  options: ['endpoint_pod_names', 'fallthrough', 'labels', 'namespaces', 'pods', 'ttl'],
  answers: { zoneArgs: [0], takesAll: true, leavesSome: ['fallback'], checksVisibility: true },
  advise: adviseOnPods,
  setup: createKubernetesSetup(() => ({})),
}

/** Returns the setup of `kubernetes [ZONES…] { … }` with parts for other plugins. */
export function createKubernetesSetup(peerParts: PeerParts): Setup {
  return (directives, context) => configure(directives, context, peerParts)
}

function configure(
  directives: Parameters<Setup>[0],
  context: SetupContext,
  peerParts: PeerParts,
): SetupResult {
  const directive = onlyDirective(directives)
  const options = parseKubernetes(directive, context.zones)
  const { notices } = options
  if (options.clusters.length > 1) {
    return { plugins: [mergedPlugin(options, context.host)], notices }
  }
  const create = (one: KubernetesOptions): Plugin => clusterPlugin(one, context, peerParts)
  if (options.cluster !== EVERY_CLUSTER) return { plugin: create(options), notices }
  const { openClusters } = context.host
  if (openClusters === undefined) throw configError(options, '"cluster *" works at gateways only')
  const published = openClusters({
    open: (cluster) => each.open(cluster),
    close: (cluster) => each.close(cluster),
    zonesOf: (cluster) => each.zonesOf(cluster),
  })
  const each = new EachCluster({ options, create, published })
  return { plugin: each.asPlugin(), notices }
}

/** Creates the plugin of one cluster. */
function clusterPlugin(
  options: KubernetesOptions,
  context: SetupContext,
  peerParts: PeerParts,
): Plugin {
  const zones = zonesOfDirective(
    options,
    context.block.directives.some(({ name }) => name === 'cache'),
  )
  const { openCluster } = context.host
  const source = openCluster(options)
  const isShared = zones.all.some(({ isMulticluster }) => isMulticluster)
  const sharedSource = isShared ? openCluster(options, { kind: 'multicluster' }) : source
  const { rules, fallthrough, hasFallback, cluster } = options
  const fast = new FastAnswer({ zones, cluster, source, sharedSource, rules, fallthrough })
  const { isZonal } = options
  const seenZone = (query: Query, visibility: ClientVisibility | undefined): Zone | undefined =>
    zoneOf(
      zones,
      query,
      visibility && (({ origin }) => visibility.seesOrigin(cluster, origin.bytes)),
    )
  return {
    name: 'kubernetes',
    fastPath: { answer: (query, reply, how) => fast.answer(query, reply, how) },
    hides: (visibility, query, blockZone) => {
      const zone = zoneOf(zones, query)
      if (zone === undefined || seenZone(query, visibility) !== undefined) return false
      return isSubdomain(blockZone, zone.origin.bytes)
    },
    ...peerParts({ zones, source, sharedSource, isZonal }, context),
    explain: (query, { visibility }) => {
      const zone = seenZone(query, visibility)
      if (zone === undefined) return []
      const tree = zone.isMulticluster ? 'multicluster' : 'cluster'
      const own = zone.isMulticluster ? sharedSource : source
      const home = zones.home.bytes
      const place = { zone, source: own, cluster, tree, visibility, home, rules } as const
      return explainPlace(query, { ...place, turns: context.host })
    },
    isReady: () => hasFallback || (isComplete(source) && isComplete(sharedSource)),
    serve: (request, next) => {
      const { visibility } = request.client
      const zone = seenZone(request.query, visibility)
      if (zone === undefined) return next(request)
      if (isTransferType(request.type)) return failure(RCODE.REFUSED)
      const own = zone.isMulticluster ? sharedSource : source
      const serve = (snapshot: Snapshot): MaybePromise<Outcome> => {
        const from = { zone, home: zones.home, rules, snapshot, source: own, visibility }
        return serveZone(request, from, { fallthrough, hasFallback, next })
      }
      const refuse = hasFallback ? () => next(request) : undefined
      return withSnapshot(own, serve, { namespaces: visibility?.namespaces, refuse })
    },
  }
}

function serveZone(
  request: Request,
  place: ZonePlace,
  {
    fallthrough,
    hasFallback,
    next,
  }: { readonly fallthrough: Fallthrough; readonly hasFallback: boolean; readonly next: Next },
): MaybePromise<Outcome> {
  const { query } = request
  return andThen(zoneReply(query, place, false), (result): MaybePromise<Outcome> => {
    switch (result.kind) {
      case 'found':
        return request.type === TYPE.CNAME ? rebaseCnames(result.reply, place) : result.reply
      case 'cname':
        return cnameReply(request, place)
      case 'unavailable':
        return unavailable()
      case 'absent':
        return fallsThrough(fallthrough, request.lowerName) ||
          (hasFallback && !isComplete(place.source))
          ? next(request)
          : negativeFrom(
              place.source,
              negativeReply(query, { ...place, snapshot: result.snapshot }, RCODE.NXDOMAIN),
            )
    }
  })
}

/** Warns because clients over TLS and HTTPS are outside and could name any address. */
function adviseOnPods({ lines }: Directive, { block: { keys } }: DirectiveSurroundings): Problem[] {
  const key = keys.find(({ transport }) => transport !== 'dns')
  if (key === undefined) return []
  return lines.flatMap(({ words: [option, mode] }) => {
    if (option?.text !== 'pods' || mode?.text !== 'insecure') return []
    const message =
      `"pods insecure" lets any client of "${key.transport}://" ` +
      'get a name for any address; "pods verified" has names of existing pods only'
    return [problemAt(mode, message)]
  })
}
