/**
 * The `k8s_gateway` plugin: answers the hostnames that a cluster's Ingresses, routes, Services and
 * other objects publish, with the objects' external addresses.
 * @module
 */

import type { SnapshotSource } from '../../chain/host.ts'
import type { Plugin } from '../../chain/plugin.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Setup } from '../../chain/setup.ts'
import { defaultKubernetes } from '../../corefile/kubernetes-options.ts'
import { closestZone, closestZoneIndex, fallsThrough } from '../../plugin-kit/zones.ts'
import { isComplete, withSnapshot } from '../kubernetes/with-snapshot.ts'
import { findHost } from './find-host.ts'
import { hostReply, unknownReply } from './host-reply.ts'
import { type GatewayOptions, parseGateway } from './options.ts'
import { serverReply } from './server-reply.ts'

/** Configures `k8s_gateway [ZONES…] { … }`; `fallthrough` passes names to the next directive. */
const setup: Setup = (directives, { host, zones }) => {
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
}

/** The entry of `k8s_gateway`. */
export const k8sGatewayPlugin: PluginEntry = {
  name: 'k8s_gateway',
  isServeOnly: true,
  hasListArgs: true,
  answers: { zoneArgs: [0], takesAll: true },
  setup,
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
