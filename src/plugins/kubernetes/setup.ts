/**
 * The `kubernetes` plugin: answers the names of a cluster from its snapshots.
 * @module
 */
import { onlyDirective } from '../../corefile/arguments.ts'
import { parseKubernetes } from '../../corefile/kubernetes-options.ts'
import { EXTENDED_ERROR, extendedError } from '../../dns/edns.ts'
import { isSubdomain } from '../../dns/name.ts'
import type { Query } from '../../dns/query.ts'
import { RCODE } from '../../dns/rcode.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { SnapshotSource } from '../host.ts'
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
import { QuickAnswer } from './quick-answer.ts'
import { SearchPaths } from './search-paths.ts'
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

function isWhole(source: SnapshotSource): boolean {
  return source.current() !== undefined && source.freshness() !== 'partial'
}

/** Goes on with the newest snapshot; without one, or with one too old, fails and says so. */
function withSnapshot(
  source: SnapshotSource,
  serve: (snapshot: ZoneView['snapshot']) => MaybePromise<Outcome>,
): MaybePromise<Outcome> {
  const current = source.current()
  return andThen(current ?? source.load(), (snapshot) => {
    if (snapshot === undefined || source.freshness() === 'expired') {
      const text = snapshot === undefined ? 'no snapshot yet' : 'the newest snapshot is too old'
      const option = extendedError(EXTENDED_ERROR.NOT_READY, text)
      return failure(RCODE.SERVFAIL, text, [option])
    }
    // To lack a shard may lead to a newer snapshot: it is that one whose age counts.
    return andThen(serve(snapshot), (outcome) =>
      source.freshness() === 'stale' ? markStale(outcome) : outcome,
    )
  })
}

function markStale(outcome: Outcome): Outcome {
  if (outcome.kind !== 'reply' || outcome.origin !== 'snapshot') return outcome
  const option = extendedError(EXTENDED_ERROR.STALE_ANSWER)
  return { ...outcome, options: [...outcome.options, option] }
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
        return fallsThrough(fallthrough, request.lowerName) ? next(request) : deny(query, view)
    }
  })
}

/** What is not there yet may be among what has not been read yet (CoreDNS, handler.go). */
function deny(query: Query, view: ZoneView): Outcome {
  if (view.source.freshness() !== 'partial') return negativeReply(query, view, RCODE.NXDOMAIN)
  const reply = negativeReply(query, view, RCODE.SERVFAIL)
  const option = extendedError(EXTENDED_ERROR.NOT_READY, 'the cluster is not read yet')
  return { ...reply, options: [option] }
}
