/**
 * The `k8s_external` plugin: answers the names of a cluster's Services with their external
 * addresses.
 * @module
 */

import type { MaybePromise } from '../../chain/maybe-promise.ts'
import type { Outcome } from '../../chain/outcome.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Request } from '../../chain/request.ts'
import { parseKubernetes } from '../../corefile/kubernetes-options.ts'
import { configError } from '../../corefile/problem.ts'
import { equalNames, tailOffset } from '../../dns/name.ts'
import { ReverseAddress, readReverseName } from '../../dns/reverse-name.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { closestZone, closestZoneIndex, fallsThrough } from '../../plugin-kit/zones.ts'
import { pointersOf } from '../../snapshot/read/find-name.ts'
import type { Snapshot } from '../../snapshot/read/snapshot.ts'
import { SURPLUS_LABELS } from '../kubernetes/reverse-answer.ts'
import { isComplete, negativeFrom, withSnapshot } from '../kubernetes/with-snapshot.ts'
import { apexReply, authorityOf, externalTransfer, replyWith } from './apex.ts'
import { type ExternalOptions, parseExternal } from './options.ts'
import { findService, serviceReply } from './service-reply.ts'

/** Configures `k8s_external [ZONES…] { … }`, which needs `kubernetes` in its server block. */
export const k8sExternalPlugin: PluginEntry = {
  name: 'k8s_external',
  gateways: {
    at: 'gateway',
    is: 'refused',
    because: 'the exporter does not publish its names; "kubedoh serve" has it',
  },
  hasListArgs: true,
  answers: { zoneArgs: [0], takesAll: true },
  setup: (directives, { block, host, zones: blockZones }) => {
    const options = parseExternal(directives, blockZones)
    const { zones, ttlSeconds, hasEndpoints, notices } = options
    const directive = block.directives.find(({ name }) => name === 'kubernetes')
    if (directive === undefined) {
      const message = '"k8s_external" needs "kubernetes" in the same server block; add it'
      throw configError(directives[0], message)
    }
    const cluster = parseKubernetes(directive, blockZones)
    const source = host.openCluster(cluster, { kind: 'external', ttlSeconds, hasEndpoints })
    return {
      plugin: {
        name: 'k8s_external',
        fastPath: { needsSlowPath: (query) => closestZoneIndex(zones, query) >= 0 },
        isReady: () => isComplete(source),
        transfer: (name, serial) => {
          const zone = zones.find((one) => equalNames(one, name))
          return zone && externalTransfer(source, authorityOf(zone, options), serial)
        },
        serve: (request, next) => {
          const zone = closestZone(zones, request.lowerName)
          if (zone === undefined) return next(request)
          return withSnapshot(source, (snapshot) => {
            const reply = answer(request, { zone, snapshot, options })
            if (reply !== undefined) return reply
            if (fallsThrough(options.fallthrough, request.lowerName)) return next(request)
            return negativeFrom(source, replyWith(snapshot, authorityOf(zone, options), {}))
          })
        },
      },
      notices,
    }
  },
}

/** Answers a request; `undefined` if the name does not exist. */
function answer(
  request: Request,
  {
    zone,
    snapshot,
    options,
  }: {
    readonly zone: Uint8Array
    readonly snapshot: Snapshot
    readonly options: ExternalOptions
  },
): MaybePromise<Outcome> | undefined {
  const authority = authorityOf(zone, options)
  const apex = apexReply(request, snapshot, authority, options.apex)
  if (apex !== undefined) return apex
  if (request.type === TYPE.PTR) {
    const address = addressOf(request)
    if (address !== undefined) {
      const [home = zone] = options.zones
      const as = { owner: request.name, origin: home }
      const pointers = pointersOf(snapshot, address.bytes, address.addressBytes, as)
      if (pointers.length === 0) return undefined
      return replyWith(snapshot, authority, { answer: pointers })
    }
  }
  const relative = request.lowerName.subarray(0, tailOffset(request.lowerName, zone))
  const found = findService(snapshot, relative)
  return found && serviceReply(request, found, snapshot, authority)
}

/** Returns the complete address of a reverse name; `undefined` for any other name. */
function addressOf({ query }: Request): ReverseAddress | undefined {
  const address = new ReverseAddress()
  if (!readReverseName(query, address, SURPLUS_LABELS)) return undefined
  return address.bitCount === 8 * address.addressBytes ? address : undefined
}
