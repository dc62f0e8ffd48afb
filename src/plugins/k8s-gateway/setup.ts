/**
 * The `k8s_gateway` plugin: answers the host names that a cluster's Ingresses, routes, Services and
 * other objects say, with the addresses that these are reached at from outside.
 * @module
 */
import { defaultKubernetes } from '../../corefile/kubernetes-options.ts'
import { isWhole, withSnapshot } from '../kubernetes/with-snapshot.ts'
import type { Setup } from '../plugin.ts'
import { closestZone, closestZoneIndex, fallsThrough } from '../zones.ts'
import { findHost } from './find-host.ts'
import { absentReply, hostReply } from './host-reply.ts'
import { parseGateway } from './options.ts'
import { serverReply } from './server-reply.ts'

/** Configures `k8s_gateway [ZONES…] { … }`. */
export const setupGateway: Setup = (directives, { host, zones: blockZones }) => {
  const options = parseGateway(directives, blockZones)
  const { zones, kubeconfig, tree, fallthrough, notices } = options
  const cluster = { ...defaultKubernetes(directives[0], zones), kubeconfig }
  const source = host.openCluster(cluster, tree)
  return {
    plugins: [
      {
        name: 'k8s_gateway',
        quick: { concerns: (query) => closestZoneIndex(zones, query) >= 0 },
        isReady: () => isWhole(source),
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
            return absentReply(request, from)
          })
        },
      },
    ],
    notices,
  }
}
