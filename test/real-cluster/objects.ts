/**
 * Objects for the API server: the demo's shop, and valid rare cases.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { ApiObject } from './api-server.ts'

/** Rights that the exporter needs, and nothing else. */
export const RIGHTS: readonly ApiObject[] = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'kubedoh-exporter' },
    rules: [
      { apiGroups: [''], resources: ['services', 'namespaces', 'pods'], verbs: ['list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'kubedoh-exporter' },
    roleRef: {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: 'kubedoh-exporter',
    },
    subjects: [{ kind: 'Group', name: 'exporters', apiGroup: 'rbac.authorization.k8s.io' }],
  },
]

/** Rights that exporters need to publish what RBAC says. */
export const RBAC_RIGHTS: readonly ApiObject[] = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'kubedoh-rbac' },
    rules: [
      {
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'],
        verbs: ['list', 'watch'],
      },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'kubedoh-rbac' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'kubedoh-rbac' },
    subjects: [{ kind: 'Group', name: 'exporters', apiGroup: 'rbac.authorization.k8s.io' }],
  },
]

/** Rights that exporters need to elect one of them. */
export const LEASE_RIGHTS: readonly ApiObject[] = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { namespace: 'kube-system', name: 'kubedoh-election' },
    rules: [
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: ['kubedoh'],
        verbs: ['get', 'update', 'watch'],
      },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { namespace: 'kube-system', name: 'kubedoh-election' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'kubedoh-election' },
    subjects: [{ kind: 'Group', name: 'exporters', apiGroup: 'rbac.authorization.k8s.io' }],
  },
]

/** Names that the API server creates itself. */
const BUILT_IN: ReadonlySet<string> = new Set([
  'Namespace default',
  'Service kubernetes',
  'EndpointSlice kubernetes',
])

/** Reads the demo's objects. */
export function shopObjects(): ApiObject[] {
  const text = readFileSync(join(import.meta.dirname, '../../demo/shop.yaml'), 'utf8')
  const objects: unknown[] = parseAllDocuments(text).map((document) => document.toJS())
  return objects
    .filter(isApiObject)
    .filter(({ kind, metadata }) => !BUILT_IN.has(`${kind} ${metadata.name}`))
}

/** A Namespace. */
export function namespace(name: string): ApiObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

/** A Service with one port, called `http`. */
export function service(path: string, spec: Readonly<Record<string, unknown>> = {}): ApiObject {
  const [namespaceName = '', name = ''] = path.split('/')
  const ports = [{ name: 'http', port: 80, protocol: 'TCP' }]
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: namespaceName },
    spec: { ports, ...spec },
  }
}

/** A slice of a Service. */
export function slice(
  path: string,
  serviceName: string,
  endpoints: readonly unknown[],
  fields: Readonly<Record<string, unknown>> = {},
): ApiObject {
  const [namespaceName = '', name = ''] = path.split('/')
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name,
      namespace: namespaceName,
      labels: { 'kubernetes.io/service-name': serviceName },
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints,
    ...fields,
  } as ApiObject
}

/** A Pod, without its status. */
export function pod(path: string): ApiObject {
  const [namespaceName = '', name = ''] = path.split('/')
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: namespaceName },
    spec: { containers: [{ name: 'main', image: 'example.org/nothing' }] },
  }
}

/** Rare cases: no or unready endpoints, unnamed ports, many slices, duplicates, 63 letters. */
export function rareObjects(): ApiObject[] {
  const long = 'l'.repeat(63)
  return [
    namespace('rare'),
    service('rare/empty'),
    service('rare/headless-empty', { clusterIP: 'None' }),
    service('rare/unnamed-port', { ports: [{ port: 53, protocol: 'UDP' }] }),
    service('rare/no-ports', { clusterIP: 'None', ports: [] }),
    slice('rare/no-ports-1', 'no-ports', [{ addresses: ['10.244.9.1'], hostname: 'only' }], {
      ports: [],
    }),
    service('rare/many', { clusterIP: 'None' }),
    ...[0, 1, 2].map((i) =>
      slice(`rare/many-${i}`, 'many', [
        { addresses: [`10.244.10.${i}`, `10.244.11.${i}`], conditions: { ready: i !== 1 } },
        { addresses: ['10.244.10.200'], hostname: 'twice' },
        { addresses: [`10.244.12.${i}`] },
      ]),
    ),
    service(`rare/${long}`, { clusterIP: 'None' }),
    slice('rare/long-1', long, [{ addresses: ['10.244.13.1'], hostname: 'h'.repeat(63) }]),
    service('rare/orphan', { type: 'ExternalName', externalName: 'web.shop.svc.cluster.local' }),
    service('rare/external', { externalIPs: ['198.51.100.10', '198.51.100.11', '2001:db8::10'] }),
    service('rare/nowhere', { type: 'ExternalName', externalName: 'nowhere.example.org' }),
    slice('rare/without-service-1', 'without-service', [{ addresses: ['10.244.14.1'] }]),
  ]
}

function isApiObject(value: unknown): value is ApiObject {
  return typeof value === 'object' && value !== null && 'kind' in value && 'metadata' in value
}

/** The group of the Gateway API. */
export const GATEWAY_API = 'gateway.networking.k8s.io'

/** Returns the smallest CRD of a Gateway API kind with which an API server stores its objects. */
export function definition(kind: string, plural: string): ApiObject {
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }
  const approval = 'https://github.com/kubernetes-sigs/gateway-api/pull/2997'
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${GATEWAY_API}`,
      ...{ annotations: { 'api-approved.kubernetes.io': approval } },
    },
    spec: {
      group: GATEWAY_API,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
}
