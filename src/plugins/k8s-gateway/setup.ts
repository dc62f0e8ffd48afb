/**
 * The `k8s_gateway` plugin: answers the hostnames that a cluster's Ingresses, routes, Services and
 * other objects publish, with the objects' external addresses.
 * @module
 */

import type { SnapshotSource } from '../../chain/host.ts'
import { andThen, type MaybePromise } from '../../chain/maybe-promise.ts'
import type { Outcome } from '../../chain/outcome.ts'
import type { Plugin } from '../../chain/plugin.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Request } from '../../chain/request.ts'
import { defaultKubernetes } from '../../corefile/kubernetes-options.ts'
import { joinName, tailOffset } from '../../dns/name.ts'
import { RCODE } from '../../dns/rcode.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { closestZone, closestZoneIndex, fallsThrough } from '../../plugin-kit/zones.ts'
import { isComplete, withSnapshot } from '../kubernetes/with-snapshot.ts'
import {
  addressesOf,
  findHost,
  type GatewayPlace,
  hostReply,
  replyWith,
  unknownReply,
  ZONE_TTL_SECONDS,
} from './host-reply.ts'
import { type GatewayOptions, parseGateway } from './options.ts'

/** Configures `k8s_gateway [ZONES…] { … }`; `fallthrough` passes names to the next directive. */
export const k8sGatewayPlugin: PluginEntry = {
  name: 'k8s_gateway',
  gateways: {
    at: 'gateway',
    is: 'refused',
    because: 'the exporter does not publish its names; "kubedoh serve" has it',
  },
  hasListArgs: true,
  answers: { zoneArgs: [0], takesAll: true },
  setup: (directives, { host, zones }) => {
    const all = directives.map((directive) => ({
      directive,
      options: parseGateway(directive, zones),
    }))
    return {
      plugins: all.map(({ directive, options }) => {
        const { kubeconfig, tree } = options
        const cluster = { ...defaultKubernetes(directive, options.zones), kubeconfig }
        return createPlugin(options, host.openCluster(cluster, tree))
      }),
      notices: all.flatMap(({ options }) => options.notices),
    }
  },
}

function createPlugin(options: GatewayOptions, source: SnapshotSource): Plugin {
  const { zones, fallthrough } = options
  return {
    name: 'k8s_gateway',
    fastPath: { needsSlowPath: (query) => closestZoneIndex(zones, query) >= 0 },
    isReady: () => isComplete(source),
    serve: (request, next) => {
      const zone = closestZone(zones, request.lowerName)
      if (zone === undefined) return next(request)
      return withSnapshot(source, (snapshot) => {
        const from = { zone, snapshot, source, options }
        const server = serverReply(request, from)
        if (server !== undefined) return server
        const found = findHost(snapshot, request.lowerName, zone)
        if (found !== undefined) return hostReply(request, found, from)
        if (fallsThrough(fallthrough, request.lowerName)) return next(request)
        return unknownReply(request, from)
      })
    },
  }
}

/**
 * Answers for the name server, which exists even without a known address, and returns NXDOMAIN
 * below it; `undefined` for any other name.
 */
function serverReply(request: Request, view: GatewayPlace): MaybePromise<Outcome> | undefined {
  const { zone, snapshot, options } = view
  const { lowerName, name: owner, type } = request
  const server = joinName(options.apex, zone)
  const below = server === undefined ? -1 : tailOffset(lowerName, server)
  if (below < 0) return undefined
  if (below > 0) return replyWith(view, { rcode: RCODE.NXDOMAIN })
  const found = findHost(snapshot, lowerName, zone)
  const isAddress = type === TYPE.A || type === TYPE.AAAA
  if (found === undefined || !isAddress) return replyWith(view, {})
  return andThen(addressesOf(request, found, { owner, type }), ({ records }) => {
    const answer = records.map((record) => ({ ...record, ttlSeconds: ZONE_TTL_SECONDS }))
    return replyWith(view, { answer })
  })
}
