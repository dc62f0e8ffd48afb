/**
 * The `kubernetes` plugin: answers the names of a cluster from its snapshots.
 * @module
 */
import { onlyDirective } from '../../corefile/arguments.ts'
import { parseKubernetes } from '../../corefile/kubernetes-options.ts'
import { isSubdomain } from '../../dns/name.ts'
import { RCODE } from '../../dns/rcode.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { View } from '../plugin.ts'
import {
  andThen,
  failure,
  type MaybePromise,
  type Next,
  type Outcome,
  type Request,
  type Setup,
} from '../plugin.ts'
import { parseSearchList } from '../search-list.ts'
import { type Fallthrough, fallsThrough } from '../zones.ts'
import { aliasReply, rebaseAliases, unavailable } from './alias-reply.ts'
import { clusterMetadata } from './metadata.ts'
import { QuickAnswer } from './quick-answer.ts'
import { SearchPaths } from './search-paths.ts'
import { denied, isWhole, withSnapshot } from './with-snapshot.ts'
import { type Zone, zoneOf, zonesOfDirective } from './zone.ts'
import { negativeReply, type ZoneView, zoneReply } from './zone-reply.ts'
import { clusterTransfer } from './zone-transfer.ts'

/** Configures `kubernetes [ZONES…] { … }`. */
export const setupKubernetes: Setup = (directives, context) => {
  const directive = onlyDirective(directives)
  const options = parseKubernetes(directive, context.zones)
  const zones = zonesOfDirective(options)
  const { openCluster } = context.host
  const source = openCluster(options)
  const isShared = zones.all.some(({ isMulticluster }) => isMulticluster)
  const sharedSource = isShared ? openCluster(options, { kind: 'multicluster' }) : source
  const { rules, fallthrough, cluster, notices } = options
  const quick = new QuickAnswer({ zones, cluster, source, sharedSource, rules, fallthrough })
  const machine = parseSearchList(context.host.readText('/etc/resolv.conf') ?? '')
  const searchPaths = new SearchPaths(zones, source, machine)
  const labels = { zones, source, isZonal: options.isZonal }
  const isHidden = (view: View | undefined, { origin }: Zone): boolean =>
    view !== undefined && !view.seesOrigin(cluster, origin.bytes)
  return {
    plugins: [
      {
        name: 'kubernetes',
        quick: { answer: (query, reply, how) => quick.answer(query, reply, how) },
        hides: (view, query, blockZone) => {
          const zone = zoneOf(zones, query)
          if (zone === undefined || !isHidden(view, zone)) return false
          return isSubdomain(blockZone, zone.origin.bytes)
        },
        transfer: (name, serial) => clusterTransfer({ zones, source, sharedSource }, name, serial),
        metadata: (label, asked) => clusterMetadata(label, asked, labels),
        searchPath: (query, client) => searchPaths.of(query, client),
        isReady: () => isWhole(source) && isWhole(sharedSource),
        serve: (request, next) => {
          const zone = zoneOf(zones, request.query)
          const { view } = request.client
          if (zone === undefined || isHidden(view, zone)) return next(request)
          if (request.type === TYPE.AXFR || request.type === TYPE.IXFR) {
            return failure(RCODE.REFUSED)
          }
          const own = zone.isMulticluster ? sharedSource : source
          return withSnapshot(own, (snapshot) => {
            const namespaces = view?.namespaces
            const from = { zone, home: zones.home, rules, snapshot, source: own, namespaces }
            return serveZone(request, from, { fallthrough, next })
          })
        },
      },
    ],
    notices,
  }
}

function serveZone(
  request: Request,
  view: ZoneView,
  { fallthrough, next }: { readonly fallthrough: Fallthrough; readonly next: Next },
): MaybePromise<Outcome> {
  const { query } = request
  return andThen(zoneReply(query, view, false), (result): MaybePromise<Outcome> => {
    switch (result.kind) {
      case 'found':
        return request.type === TYPE.CNAME ? rebaseAliases(result.reply, view) : result.reply
      case 'alias':
        return aliasReply(request, view)
      case 'unavailable':
        return unavailable()
      case 'absent':
        return fallsThrough(fallthrough, request.lowerName)
          ? next(request)
          : denied(view.source, negativeReply(query, view, RCODE.NXDOMAIN))
    }
  })
}
