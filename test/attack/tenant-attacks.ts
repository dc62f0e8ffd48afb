/**
 * Objects of a tenant that cost a server as much as they can, edited again and again; run by
 * `attacker.ts`. Each edit differs from the one before.
 * @module
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TenantObject } from './tenant-api.ts'

/** An object that a tenant edits. */
type TenantRow = {
  readonly resource: string
  readonly perSecond: number
  readonly object: (edit: number) => TenantObject
}

/** The zone that the tenant may have names in. */
export const TENANT_ZONE = 'apps.test'

const BALANCER = { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } }
const TEXT_BYTES = 1024 * 1024 - 20

function list<T>(count: number, item: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => item(i))
}

function configMap(form: string, data: object): TenantObject {
  return { metadata: { labels: { 'kubedoh.dev/hostnames': form } }, data }
}

function zone(text: (edit: number) => string): TenantRow {
  const object = (edit: number): TenantObject => configMap('zone', { [TENANT_ZONE]: text(edit) })
  return { resource: 'configmaps', perSecond: 5, object }
}

function hosts(text: (edit: number) => string): TenantRow {
  const object = (edit: number): TenantObject => configMap('hosts', { hosts: text(edit) })
  return { resource: 'configmaps', perSecond: 5, object }
}

function hostLines(count: number): TenantRow {
  return hosts((edit) => list(count, (i) => `${ip(edit)} host-${i}.${TENANT_ZONE}`).join('\n'))
}

function ingress(count: number, perSecond = 5): TenantRow {
  const rules = (edit: number): object[] =>
    list(count, (i) => ({ host: `h${i}-${edit}.${TENANT_ZONE}` }))
  const object = (edit: number): TenantObject => ({
    spec: { rules: rules(edit) },
    status: BALANCER,
  })
  return { resource: 'ingresses', perSecond, object }
}

function dnsEndpoint(count: number): TenantRow {
  const endpoints = (edit: number): object[] =>
    list(count, (i) => ({
      ...{ dnsName: `h${i}.${TENANT_ZONE}`, recordType: 'A' },
      targets: [ip(edit)],
    }))
  const object = (edit: number): TenantObject => ({ spec: { endpoints: endpoints(edit) } })
  return { resource: 'dnsendpoints', perSecond: 5, object }
}

function ip(edit: number): string {
  return `10.0.${(edit >> 8) & 255}.${edit & 255}`
}

/** An EndpointSlice of 1,000 endpoints. */
function slice(addresses: number, ports: number, perSecond: number): TenantRow {
  const endpoints = (edit: number): object[] =>
    list(1000, (i) => ({
      addresses: list(addresses, (k) => `10.${edit & 127}.${i & 255}.${(i >> 8) * addresses + k}`),
      ...{ conditions: { ready: true }, hostname: `pod-${i}` },
    }))
  const object = (edit: number): TenantObject => ({
    metadata: { labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: endpoints(edit),
    ports: list(ports, (i) => ({ name: `p${i}`, port: i + 1, protocol: 'TCP' })),
  })
  return { resource: 'endpointslices', perSecond, object }
}

/** The objects, by what they are. */
export const TENANT_ROWS: Readonly<Record<string, TenantRow>> = {
  'ConfigMap of 34 bytes, $GENERATE of 65,536 records': zone(
    (edit) => `$GENERATE 0-65535 h$ A ${ip(edit)}`,
  ),
  'ConfigMap, $GENERATE of 5,000 records': zone((edit) => `$GENERATE 0-4999 h$ A ${ip(edit)}`),
  'ConfigMap, $GENERATE with wide owners': zone(
    (edit) => `$GENERATE 0-65535 \${0,60,d}.\${0,60,d}.\${0,60,d}.h$ A ${ip(edit)}`,
  ),
  'ConfigMap, 131,072 records by $GENERATE': zone(
    (edit) => `$GENERATE 0-65535 a$ A ${ip(edit)}\n$GENERATE 0-65535 b$ A 10.0.0.1`,
  ),
  'ConfigMap, a zone of 4,000 records with 60 labels': zone((edit) =>
    list(4000, (i) => `${'a.'.repeat(60)}h${i} A ${ip(edit)}`).join('\n'),
  ),
  'ConfigMap, 1 MiB of (': zone((edit) => `${'('.repeat(TEXT_BYTES)}${edit}`),
  'ConfigMap, a hosts file of 900 KiB': hostLines(27_000),
  'ConfigMap, a hosts file of 5,000 names': hostLines(5000),
  'ConfigMap, a hosts file of empty lines': hosts((edit) => `${'\n'.repeat(TEXT_BYTES)}# ${edit}`),
  'Ingress of 12,000 hosts': ingress(12_000),
  'Ingress of 5,000 hosts': ingress(5000),
  'a small Ingress': ingress(1, 20),
  'DNSEndpoint of 12,000 names': dnsEndpoint(12_000),
  'DNSEndpoint of 5,000 names': dnsEndpoint(5000),
  'HTTPRoute of 5,000 hostnames': {
    resource: 'httproutes',
    perSecond: 5,
    object: (edit) => {
      const hostnames = list(5000, (i) => `h${i}-${edit}.${TENANT_ZONE}`)
      return { spec: { hostnames, parentRefs: [{ name: 'own' }] } }
    },
  },
  'Gateway of 5,000 listeners': {
    resource: 'gateways',
    perSecond: 5,
    object: (edit) => {
      const hostname = (i: number): string => `h${i}-${edit}.${TENANT_ZONE}`
      const listener = (i: number): object => {
        return { name: `l${i}`, protocol: 'HTTPS', port: 443, hostname: hostname(i) }
      }
      return { spec: { listeners: list(5000, listener) }, status: { addresses: [] } }
    },
  },
  'Service with 10,000 hostnames in an annotation, and 40 addresses': {
    resource: 'services',
    perSecond: 5,
    object: (edit) => {
      const names = list(10_000, (i) => `h${i}-${edit}.${TENANT_ZONE}`).join()
      const externalIPs = list(40, (i) => `203.0.113.${i}`)
      return {
        metadata: { annotations: { 'external-dns.alpha.kubernetes.io/hostname': names } },
        spec: { type: 'LoadBalancer', clusterIP: '10.96.1.1', externalIPs, ports: [{ port: 80 }] },
      }
    },
  },
  'EndpointSlice of 1,000 endpoints': slice(1, 1, 20),
  'EndpointSlice of 5,000 addresses with 4 ports': slice(5, 4, 5),
}

/** Edits an object for a while, then deletes it. Returns the number of edits. */
export async function editObject(attack: {
  readonly port: number
  readonly row: string
  readonly holdMs: number
}): Promise<number> {
  const { port, row, holdMs } = attack
  const edited = TENANT_ROWS[row]
  assert.ok(edited !== undefined, row)
  const { resource, perSecond, object } = edited
  const url = `http://127.0.0.1:${port}/${resource}/one`
  let edits = 0
  for (const startMs = performance.now(); performance.now() < startMs + holdMs; ) {
    await fetch(url, { method: 'PUT', body: JSON.stringify(object(edits++)) })
    await sleep(Math.max(0, startMs + (edits * 1000) / perSecond - performance.now()))
  }
  await fetch(url, { method: 'DELETE' })
  return edits
}
