/**
 * The names that a Pod's resolver tries for a name: the search list that kubelet writes into its
 * resolv.conf (Kubernetes, "DNS for Services and Pods"), as glibc walks it.
 * @module
 */
import { isRecord, listOf, recordOf, textOf } from '../../dns/bytes/unknown.ts'

/** What a Pod's resolv.conf says, without what it takes over from its node. */
export type PodSearch = {
  readonly dnsPolicy: string
  /** Absolute names. */
  readonly search: readonly string[]
  readonly ndots: number
  /** The servers that its `dnsConfig` adds. */
  readonly nameservers: readonly string[]
  /** Whether it queries the cluster's DNS server. */
  readonly usesCluster: boolean
}

/** kubelet's `ndots` for Pods that use the cluster's DNS server, and glibc's default. */
const NDOTS = { cluster: 5, node: 1 } as const
/** glibc's RES_MAXNDOTS. */
const NDOTS_MAX = 15
/** Search domains that Kubernetes allows. */
const SEARCH_MAX = 32

/**
 * Returns the search list of a Pod in a namespace.
 * @param pod the API object; `undefined` for a Pod without settings
 * @param domain the cluster's domain, absolute
 */
export function podSearch(pod: unknown, namespace: string, domain: string): PodSearch {
  const spec = recordOf(recordOf(pod).spec)
  const dnsPolicy = textOf(spec.dnsPolicy) || 'ClusterFirst'
  const config = recordOf(spec.dnsConfig)
  const isOnHost = spec.hostNetwork === true && dnsPolicy === 'ClusterFirst'
  const usesCluster = dnsPolicy.startsWith('ClusterFirst') && !isOnHost
  const own = usesCluster ? [`${namespace}.svc.${domain}`, `svc.${domain}`, domain] : []
  const added = listOf(config.searches).map((one) => `${textOf(one).replace(/\.$/, '')}.`)
  const options = listOf(config.options).filter(isRecord)
  const ndots = Number(options.findLast(({ name }) => name === 'ndots')?.value)
  return {
    dnsPolicy,
    search: [...new Set([...own, ...added])].slice(0, SEARCH_MAX),
    ndots: ndots >= 0 ? Math.min(ndots, NDOTS_MAX) : NDOTS[usesCluster ? 'cluster' : 'node'],
    nameservers: listOf(config.nameservers).map(textOf),
    usesCluster,
  }
}

/** Lists the absolute names that a resolver tries, in order. */
export function namesTried(name: string, { search, ndots }: PodSearch): readonly string[] {
  if (name.endsWith('.')) return [name]
  const absolute = `${name}.`
  const searched = search.map((domain) => (domain === '.' ? absolute : `${name}.${domain}`))
  const dots = name.split('.').length - 1
  return [...new Set(dots >= ndots ? [absolute, ...searched] : [...searched, absolute])]
}
