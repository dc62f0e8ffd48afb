/**
 * The cluster of the attacked servers.
 * @module
 */

/** A name with one address. */
export const NAME = 'web.shop.svc.cluster.local'
/** A name with a response of about 14 KiB. */
export const WIDE_NAME = 'wide.shop.svc.cluster.local'
const WIDE_ENDPOINTS = 850

/**
 * Returns the cluster's objects as JSON, which is also YAML.
 * @param more number of further Services
 */
export function clusterObjects(more = 0): string {
  const metadata = (name: string): object => ({ name, namespace: 'shop' })
  const ports = [{ name: 'http', port: 80, protocol: 'TCP' }]
  const service = { apiVersion: 'v1', kind: 'Service' }
  const endpoints = Array.from({ length: WIDE_ENDPOINTS }, (_, i) => ({
    addresses: [`10.1.${i >> 8}.${i & 255}`],
    conditions: { ready: true },
  }))
  const others = Array.from({ length: more }, (_, i) => ({
    ...{ ...service, metadata: metadata(`other-${i}`) },
    spec: { clusterIP: `10.97.${i >> 8}.${i & 255}`, ports },
  }))
  const items = [
    ...others,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
    { ...service, metadata: metadata('web'), spec: { clusterIP: '10.96.0.10', ports } },
    { ...service, metadata: metadata('wide'), spec: { clusterIP: 'None', ports } },
    {
      ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
      metadata: { ...metadata('wide-1'), labels: { 'kubernetes.io/service-name': 'wide' } },
      ...{ endpoints, ports },
    },
  ]
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
}
