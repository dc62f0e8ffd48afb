/**
 * Checks of `kubedoh doctor` at the API server: which servers the Service of the cluster DNS has.
 * @module
 */

import type { ApiConnection, ObjectApi } from '../../cluster/api/object-api.ts'
import { errorText, isRecord, listOf, recordOf, textOf } from '../../dns/bytes/unknown.ts'
import type { ServicePlace } from './doctor-distribution.ts'
import { type Finding, ok, problem } from './doctor-findings.ts'

/** The Service that kubelets give Pods as name server, unless the cluster names it otherwise. */
const KUBE_DNS: ServicePlace = { namespace: 'kube-system', name: 'kube-dns' }
const READ_MS = 10_000

/** The Service as the API server has it. */
export type DnsService = {
  readonly findings: readonly Finding[]
  /** Its cluster IPs. */
  readonly addresses: readonly string[]
  /** Addresses of its ready endpoints. */
  readonly endpoints: readonly string[]
}

/**
 * Checks that the Service exists and has ready endpoints, and that it points to `server`, if given.
 * An unreachable API server is a problem too.
 * @param other the Service where there is no kube-system/kube-dns
 */
export async function checkDnsService(
  connection: ApiConnection,
  server: string | undefined,
  other?: ServicePlace,
): Promise<DnsService> {
  const nothing = { addresses: [], endpoints: [] }
  try {
    const { openApi } = await import('../../cluster/follow/watch.ts')
    const api = openApi(connection)
    try {
      return await readService(api, server, KUBE_DNS)
    } catch (error) {
      if (other === undefined) throw error
      return await readService(api, server, other)
    }
  } catch (error) {
    const next = 'check --kubeconfig and the right to get services and list endpointslices'
    return { ...nothing, findings: [problem('kube-dns', errorText(error), next)] }
  }
}

async function readService(
  api: ObjectApi,
  server: string | undefined,
  { namespace, name }: ServicePlace,
): Promise<DnsService> {
  const signal = AbortSignal.timeout(READ_MS)
  const get = (path: string, resource: string): Promise<unknown> =>
    api.send({ method: 'GET', path, resource }, signal)
  const service = await get(`/api/v1/namespaces/${namespace}/services/${name}`, 'services')
  const { clusterIPs, clusterIP, ipFamilies } = recordOf(recordOf(service).spec)
  const all = [textOf(clusterIP), ...listOf(clusterIPs).map(textOf)]
  const addresses = [...new Set(all)].filter((one) => one !== '' && one !== 'None')
  const label = encodeURIComponent(`kubernetes.io/service-name=${name}`)
  const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`
  const slices = await get(`${path}?labelSelector=${label}`, 'endpointslices')
  const endpoints = listOf(recordOf(slices).items)
    .flatMap((slice) => listOf(recordOf(slice).endpoints).filter(isRecord))
    .filter(({ conditions }) => recordOf(conditions).ready !== false)
    .flatMap((one) => listOf(one.addresses).map(textOf))
  const families = listOf(ipFamilies).map(textOf)
  const title = `Service ${namespace}/${name} (${addresses.join(', ')})`
  const isHere = server === undefined || [...addresses, ...endpoints].includes(server)
  const target = describeTarget(title, endpoints, isHere ? undefined : server)
  return { findings: [target, describeFamilies(families)], addresses, endpoints }
}

/** @param server a server to which the Service does not point, but should */
function describeTarget(
  name: string,
  endpoints: readonly string[],
  server: string | undefined,
): Finding {
  if (endpoints.length === 0) {
    const next = `compare its selector with the labels of the DNS server's Pods; are they ready?`
    return problem('kube-dns', `${name} has no ready endpoint`, next)
  }
  const points = `${name} points to ${endpoints.join(', ')}`
  if (server === undefined) return ok('kube-dns', points)
  const next = 'change its selector to the labels of that server, or query the Service itself'
  return problem('kube-dns', `${points}, not to ${server}`, next)
}

function describeFamilies(families: readonly string[]): Finding {
  if (families.length !== 1) return ok('families', `the Service has ${families.join(' and ')}`)
  const text = `the Service has ${families[0]} only`
  const next = 'fine in a cluster of one family; else set its ipFamilyPolicy to PreferDualStack'
  return { check: 'families', state: 'note', text, next }
}
