/**
 * The zone's name servers: NS records at the apex, and `ns.dns`, which the SOA record names.
 *
 * They are the Services that have one of the server's own addresses among their endpoints. If there
 * is none, it is `ns.dns` with the server's own addresses (CoreDNS's `kubernetes` plugin, ns.go).
 * @module
 */

import { EMPTY, toLatin1 } from '../../dns/bytes/bytes.ts'
import { parseAddress } from '../../dns/names/address.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import {
  NS_DNS,
  SERVER_CHOICES,
  SERVER_CHOICES_TYPE,
  writeServerChoice,
} from '../../snapshot/records/server-choice.ts'
import type { RRset } from '../../snapshot/records/zone-entry.ts'
import { type Cluster, objectKey } from '../objects/cluster.ts'
import { serviceOwner } from '../objects/labels.ts'
import type { EndpointSlice } from '../objects/objects.ts'
import type { NamingOptions } from '../objects/options.ts'
import type { Endpoint } from '../objects/packed-endpoints.ts'
import { type Backend, backendRecords, backendsOf } from './backend-records.ts'
import { endpointBackends } from './named-slices.ts'

/** Returns the NS RRset of the apex and the addresses of `ns.dns`; nothing without an address. */
export function nameserverNames(cluster: Cluster, options: NamingOptions): RRset[] {
  const { ttlSeconds } = options
  const found = servingBackends(cluster, options)
  const local = localBackends(options)
  const all = (found ?? [local]).flatMap(({ backends }) => backends)
  const unique = new Map(all.map(({ target }) => [toLatin1(target), target]))
  const addresses = backendRecords({ owner: NS_DNS, namespace: '', ttlSeconds }, all)
  const rdata = [...unique.values()].map((target) => ({ bytes: EMPTY, target }))
  const choices = found === undefined ? [] : [choiceSet([...found, local], ttlSeconds)]
  if (rdata.length === 0) return [...addresses, ...choices]
  return [
    { kind: 'records', owner: EMPTY, namespace: '', type: TYPE.NS, ttlSeconds, rdata },
    ...addresses,
    ...(found ?? [local]).flatMap(({ namespace, backends }) =>
      backends.flatMap((backend) => glue(backend, { namespace, ttlSeconds })),
    ),
    ...choices,
  ]
}

/** The name servers of a namespace; with '', those outside of all namespaces. */
type Serving = { readonly namespace: string; readonly backends: readonly Backend[] }

/** Returns the RRset that `kubernetes` answers clients from that see some name servers only. */
function choiceSet(all: readonly Serving[], ttlSeconds: number): RRset {
  const choices = all.flatMap(({ namespace, backends }) => {
    const none = { namespace, address: EMPTY, target: EMPTY }
    const some = backends.map(({ address = EMPTY, target }) => ({ namespace, address, target }))
    return (some.length === 0 ? [none] : some).map(writeServerChoice)
  })
  // Several slices of one Service, or of Services that do not exist, give the same one.
  const rdata = [...new Map(choices.map((one) => [toLatin1(one.bytes), one])).values()]
  const owner = SERVER_CHOICES
  const type = SERVER_CHOICES_TYPE
  return { kind: 'records', owner, namespace: '', type, ttlSeconds, rdata, isGlue: true }
}

/** Returns the glue addresses of NS records, also those in namespaces that are not served. */
function glue(
  backend: Backend,
  { namespace, ttlSeconds }: { readonly namespace: string; readonly ttlSeconds: number },
): RRset[] {
  const place = { owner: backend.target, namespace, ttlSeconds }
  return backendRecords(place, [backend]).map((set) => ({ ...set, isGlue: true }))
}

function localBackends({ localAddresses }: NamingOptions): Serving {
  const backends = localAddresses
    .filter((text) => parseAddress(text) !== undefined)
    .flatMap((host) => backendsOf(host, NS_DNS, []))
  return { namespace: '', backends }
}

/**
 * Returns the backends, without ports, of the Services that have the server's addresses as
 * endpoints; `undefined` if no slice has one.
 */
function servingBackends(cluster: Cluster, options: NamingOptions): readonly Serving[] | undefined {
  return servingSlices(cluster, options)?.map((slice) => {
    const namespace = slice.namespace
    const key = objectKey({ namespace, name: slice.serviceName })
    const service = cluster.services.get(key)
    const owner = service && serviceOwner(service)
    if (service === undefined || owner === undefined) return { namespace, backends: [] }
    if (service.isHeadless) {
      const backends = endpointBackends(owner, [{ ...slice, ports: [] }], options.usesPodNames)
      return { namespace, backends }
    }
    return {
      namespace,
      backends: service.clusterIPs.flatMap((host) => backendsOf(host, owner, [])),
    }
  })
}

/**
 * Finds the slices that have one of the server's own addresses, in an order that does not depend on
 * events; `undefined` if there is none.
 */
export function servingSlices(
  cluster: Cluster,
  { localAddresses, hasEndpoints }: NamingOptions,
): readonly EndpointSlice[] | undefined {
  const local = new Set(localAddresses.filter((text) => parseAddress(text) !== undefined))
  if (local.size === 0 || !hasEndpoints) return undefined
  const isServing = ({ isReady, addresses }: Endpoint): boolean =>
    isReady && addresses.some((address) => local.has(address))
  const slices = [...cluster.slices.values()].filter(
    ({ endpoints }) => endpoints.hasOneOf(local) && endpoints.unpack().some(isServing),
  )
  if (slices.length === 0) return undefined
  return slices.sort((a, b) => (objectKey(a) < objectKey(b) ? -1 : 1))
}
