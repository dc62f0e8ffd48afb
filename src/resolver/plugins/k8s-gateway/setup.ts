/**
 * The `k8s_gateway` plugin: answers the hostnames that a cluster's Ingresses, routes, Services and
 * other objects publish, with the objects' external addresses.
 * @module
 */

import { defaultKubernetes } from '../../../corefile/kubernetes-options.ts'
import { joinName, tailOffset } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { Snapshot } from '../../../snapshot/read/snapshot.ts'
import type { SnapshotSource } from '../../contract/host.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Request } from '../../contract/request.ts'
import { closestZoneIndex, fallsThrough } from '../../plugin-kit/zones.ts'
import { SeenZones } from '../kubernetes/seen-zones.ts'
import { isComplete, unavailable, withShards, withSnapshot } from '../kubernetes/with-snapshot.ts'
import { explainHost } from './explain.ts'
import { FastHostAnswer } from './fast-answer.ts'
import { findHost } from './find-host.ts'
import {
  addressesOf,
  type GatewayPlace,
  hostReply,
  replyWith,
  unknownReply,
  ZONE_TTL_SECONDS,
} from './host-reply.ts'
import { K8S_GATEWAY_SHAPING_OPTIONS, type K8sGatewayOptions, parseK8sGateway } from './options.ts'

/** Configures `k8s_gateway [ZONES…] { … }`; `fallthrough` passes names to the next directive. */
export const k8sGatewayPlugin: PluginEntry = {
  name: 'k8s_gateway',
  gateways: {
    at: 'gateway',
    is: 'other',
    because: "its names are those that the exporter publishes, by the exporter's own Corefile",
    idleOptions: K8S_GATEWAY_SHAPING_OPTIONS,
  },
  hasListArgs: true,
  answers: { zoneArgs: [0], takesAll: true, checksVisibility: true },
  setup: (directives, { host, zones }) => {
    const all = directives.map((directive) => ({
      directive,
      options: parseK8sGateway(directive, zones),
    }))
    return {
      plugins: all.map(({ directive, options }) => {
        const { kubeconfig, tree, cluster, zones: own } = options
        const place = { ...defaultKubernetes(directive, own), kubeconfig, cluster }
        return createPlugin(options, host.openCluster(place, tree))
      }),
      notices: all.flatMap(({ options }) => options.notices),
    }
  },
}

function createPlugin(options: K8sGatewayOptions, source: SnapshotSource): Plugin {
  const { zones, fallthrough, cluster } = options
  const seen = new SeenZones(zones, cluster)
  const fast = new FastHostAnswer(options, seen, source)
  return {
    name: 'k8s_gateway',
    fastPath: {
      needsSlowPath: (query) => closestZoneIndex(zones, query) >= 0,
      answer: (query, reply, how) => fast.answer(query, reply, how),
    },
    hides: (visibility, query, blockZone) => seen.hides(visibility, query, blockZone),
    isReady: () => isComplete(source),
    explain: (query, { visibility }) => {
      const zone = seen.closest(query, visibility)
      return zone === undefined
        ? []
        : explainHost(query, { origin: zone, source, cluster, visibility })
    },
    serve: (request, next) => {
      const { visibility } = request.client
      const zone = seen.closest(request.query, visibility)
      if (zone === undefined) return next(request)
      const namespaces = visibility?.namespaces
      const serve = (snapshot: Snapshot): MaybePromise<Outcome> => {
        const from = { zone, snapshot, source, options, namespaces }
        const server = serverReply(request, from)
        if (server !== undefined) return server
        const found = findHost(from, request.lowerName)
        if (found !== undefined) return hostReply(request, found, from)
        if (fallsThrough(fallthrough, request.lowerName)) return next(request)
        return unknownReply(request, from)
      }
      return withSnapshot(source, withShards(source, serve, unavailable), { namespaces })
    },
  }
}

/**
 * Answers for the name server, which exists even without a known address, and returns NXDOMAIN
 * below it; `undefined` for any other name.
 */
function serverReply(request: Request, place: GatewayPlace): MaybePromise<Outcome> | undefined {
  const { zone, options } = place
  const { lowerName, name: owner, type } = request
  const server = joinName(options.apex, zone)
  const below = server === undefined ? -1 : tailOffset(lowerName, server)
  if (below < 0) return undefined
  if (below > 0) return replyWith(place, { rcode: RCODE.NXDOMAIN })
  const found = findHost(place, lowerName)
  const isAddress = type === TYPE.A || type === TYPE.AAAA
  if (found === undefined || !isAddress) return replyWith(place, {})
  return andThen(addressesOf(request, found, { owner, type }), ({ records }) => {
    const answer = records.map((record) => ({ ...record, ttlSeconds: ZONE_TTL_SECONDS }))
    return replyWith(place, { answer })
  })
}
