/**
 * The `k8s_external` plugin: answers the names of a cluster's Services with their external
 * addresses.
 * @module
 */

import {
  defaultKubernetes,
  type KubernetesOptions,
  parseKubernetes,
} from '../../../corefile/kubernetes-options.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive } from '../../../corefile/server-block.ts'
import { equalNames, tailOffset } from '../../../dns/names/name.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { ReverseAddress, readReverseName } from '../../../dns/wire/reverse-name.ts'
import { pointersOf } from '../../../snapshot/read/find-name.ts'
import type { Snapshot } from '../../../snapshot/read/snapshot.ts'
import type { SnapshotSource } from '../../contract/host.ts'
import type { MaybePromise } from '../../contract/maybe-promise.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Request } from '../../contract/request.ts'
import { closestZoneIndex, fallsThrough } from '../../plugin-kit/zones.ts'
import { SURPLUS_LABELS } from '../kubernetes/reverse-answer.ts'
import { SeenZones } from '../kubernetes/seen-zones.ts'
import {
  isComplete,
  negativeFrom,
  unavailable,
  withShards,
  withSnapshot,
} from '../kubernetes/with-snapshot.ts'
import { apexReply, type ExternalPlace, externalTransfer, replyWith } from './apex.ts'
import { explainService } from './explain.ts'
import { type ExternalOptions, K8S_EXTERNAL_SHAPING_OPTIONS, parseExternal } from './options.ts'
import { findExternalService, serviceReply } from './service-reply.ts'

/**
 * Configures `k8s_external [ZONES…] { … }`. Without the option `cluster` it needs `kubernetes` in
 * its server block.
 */
export const k8sExternalPlugin: PluginEntry = {
  name: 'k8s_external',
  gateways: {
    at: 'gateway',
    is: 'other',
    because: "its names are those that the exporter publishes, by the exporter's own Corefile",
    idleOptions: K8S_EXTERNAL_SHAPING_OPTIONS,
  },
  hasListArgs: true,
  answers: { zoneArgs: [0], takesAll: true, checksVisibility: true },
  setup: (directives, { block, host, zones: blockZones }) => {
    const options = parseExternal(directives, blockZones)
    const { ttlSeconds, hasEndpoints, notices } = options
    const own = block.directives.find(({ name }) => name === 'kubernetes')
    const place = clusterOf(directives, options, own && parseKubernetes(own, blockZones))
    const source = host.openCluster(place, { kind: 'external', ttlSeconds, hasEndpoints })
    return { plugin: createPlugin(options, place.cluster, source), notices }
  },
}

/** Returns the cluster whose Services are named. @throws {ConfigError} if it is not one cluster */
function clusterOf(
  [directive]: readonly [Directive, ...Directive[]],
  { cluster, zones }: ExternalOptions,
  own: KubernetesOptions | undefined,
): KubernetesOptions {
  if (own === undefined && cluster === undefined) {
    const message = '"k8s_external" needs "kubernetes" in the same server block; add it'
    throw configError(directive, message)
  }
  if (own !== undefined && own.clusters.length > 1 && cluster === undefined) {
    throw configError(directive, '"kubernetes" has several clusters; add "cluster ID" with one')
  }
  const place = own ?? defaultKubernetes(directive, zones)
  const id = cluster ?? place.cluster
  const clusters = id === undefined ? [] : [id]
  return { ...place, zones, multiclusterZones: [], cluster: id, clusters }
}

function createPlugin(
  options: ExternalOptions,
  cluster: string | undefined,
  source: SnapshotSource,
): Plugin {
  const { zones, fallthrough } = options
  const seen = new SeenZones(zones, cluster)
  return {
    name: 'k8s_external',
    fastPath: { needsSlowPath: (query) => closestZoneIndex(zones, query) >= 0 },
    hides: (visibility, query, blockZone) => seen.hides(visibility, query, blockZone),
    isReady: () => isComplete(source),
    transfer: (name, serial) => {
      const zone = zones.find((one) => equalNames(one, name))
      return zone && externalTransfer(source, { zone, options }, serial)
    },
    explain: (query, { visibility }) => {
      const zone = seen.closest(query, visibility)
      return zone === undefined
        ? []
        : explainService(query, { origin: zone, source, cluster, visibility })
    },
    serve: (request, next) => {
      const { visibility } = request.client
      const zone = seen.closest(request.query, visibility)
      if (zone === undefined) return next(request)
      const namespaces = visibility?.namespaces
      const serve = (snapshot: Snapshot): MaybePromise<Outcome> => {
        const place = { zone, snapshot, options, namespaces }
        const reply = answer(request, place)
        if (reply !== undefined) return reply
        if (fallsThrough(fallthrough, request.lowerName)) return next(request)
        return negativeFrom(source, replyWith(place, {}))
      }
      return withSnapshot(source, withShards(source, serve, unavailable), { namespaces })
    },
  }
}

/** Answers a request; `undefined` if the name does not exist. */
function answer(request: Request, place: ExternalPlace): MaybePromise<Outcome> | undefined {
  const { zone, snapshot, options, namespaces } = place
  const apex = apexReply(request, place)
  if (apex !== undefined) return apex
  if (request.type === TYPE.PTR) {
    const address = addressOf(request)
    if (address !== undefined) {
      const [home = zone] = options.zones
      const as = { owner: request.name, origin: home, namespaces }
      const pointers = pointersOf(snapshot, address.bytes, address.addressBytes, as)
      if (pointers.length === 0) return undefined
      return replyWith(place, { answer: pointers })
    }
  }
  const relative = request.lowerName.subarray(0, tailOffset(request.lowerName, zone))
  const found = findExternalService(place, relative)
  return found && serviceReply(request, found, place)
}

/** Returns the complete address of a reverse name; `undefined` for any other name. */
function addressOf({ query }: Request): ReverseAddress | undefined {
  const address = new ReverseAddress()
  if (!readReverseName(query, address, SURPLUS_LABELS)) return undefined
  return address.bitCount === 8 * address.addressBytes ? address : undefined
}
