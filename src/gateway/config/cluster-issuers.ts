/**
 * Reads the issuers that an entry of the directory of clusters has: of the form of `ISSUERS`, but
 * for clients of this cluster only.
 * @module
 */
import { listOf, recordOf } from '../../dns/bytes/unknown.ts'
import { type IssuerConfig, IssuersError, type KeysPlace, readIssuerList } from './issuers.ts'

/** Most issuers of a cluster. */
const ISSUERS_MAX = 4
/** Longest list of a cluster, as JSON: gateways hold the lists of all clusters in memory. */
export const CLUSTER_ISSUERS_CHARS_MAX = 4096

/**
 * Reads the issuers of a cluster. Their rules name no other cluster, and no role but `operator`;
 * nobody logs in by them, because `/v1/login` shows its issuers to everybody. An administrator,
 * not the deployer, chooses where the gateway sends requests: to public hostnames by HTTPS.
 * @throws {IssuersError} that names the place, such as `issuers[0].rules[1]`
 */
export function readClusterIssuers(cluster: string, value: unknown): readonly IssuerConfig[] {
  if (JSON.stringify(value ?? null).length > CLUSTER_ISSUERS_CHARS_MAX) {
    throw new IssuersError(`issuers is over ${CLUSTER_ISSUERS_CHARS_MAX} characters`)
  }
  return readIssuerList(value, 'issuers', ISSUERS_MAX).map((issuer, i) => {
    const place = `issuers[${i}]`
    if (issuer.client !== undefined) throw new IssuersError(`${place}.client belongs into ISSUERS`)
    checkPlace(cluster, issuer, place)
    const given = listOf(recordOf(listOf(value)[i]).rules)
    const rules = issuer.rules.map((rule, j) => {
      const at = `${place}.rules[${j}]`
      const { clusters = [cluster] } = recordOf(given[j])
      const [only, ...others] = listOf(clusters)
      if (only !== cluster || others.length > 0) {
        throw new IssuersError(`${at}.clusters is not ["${cluster}"], the only one it may name`)
      }
      if (rule.role !== undefined && rule.role !== 'operator') {
        throw new IssuersError(`${at}.role is "${rule.role}", which only ISSUERS may give`)
      }
      return { ...rule, scope: { ...rule.scope, clusters: [cluster] } }
    })
    return { ...issuer, rules }
  })
}

function checkPlace(cluster: string, { issuer, keys }: IssuerConfig, place: string): void {
  if (isOfCluster(keys)) {
    if (keys.cluster === cluster) return
    throw new IssuersError(
      `${place}.keys is not "cluster:${cluster}", the only cluster it may name`,
    )
  }
  const url = keys !== 'discovery' && 'url' in keys ? keys.url : issuer
  if (isPublicUrl(url)) return
  const field = keys === 'discovery' ? 'issuer' : 'keys'
  throw new IssuersError(`${place}.${field} is at no public hostname; it belongs into ISSUERS`)
}

function isOfCluster(keys: KeysPlace): keys is { readonly cluster: string } {
  return keys !== 'discovery' && 'cluster' in keys
}

/**
 * Returns whether a URL is one by HTTPS at the usual port of a public hostname: what answers
 * elsewhere may be a machine in the gateway's own network.
 */
export function isPublicUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname, port } = new URL(url)
  return protocol === 'https:' && port === '' && PUBLIC_HOST.test(hostname)
}

/** Two labels or more, of which the last is no number and none of those for private networks. */
const PUBLIC_HOST =
  /^(?!.*\.(?:local|internal|localhost|arpa)$)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z][a-z0-9-]+$/
