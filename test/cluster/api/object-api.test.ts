import assert from 'node:assert/strict'
import { STATUS_CODES } from 'node:http'
import { describe, test } from 'vitest'
import {
  type ApiConnection,
  ApiError,
  ConnectionError,
  collectionsFor,
  connectionOf,
  STATUS_GONE,
  STATUS_NOT_FOUND,
} from '../../../src/cluster/api/object-api.ts'
import { parseObject } from '../../../src/cluster/objects/parse-object.ts'
import type { HostResource } from '../../../src/corefile/cluster-tree.ts'
import { parseKubernetes } from '../../../src/corefile/kubernetes-options.ts'
import { directive, parseDirective } from '../../ask.ts'
import { hostsTree } from '../naming.ts'

const CLUSTER = { kind: 'cluster' } as const

describe('collectionsFor', () => {
  const always = ['/api/v1/namespaces', '/api/v1/services']
  const slices = '/apis/discovery.k8s.io/v1/endpointslices'
  const pods = '/api/v1/pods'
  const imports = '/apis/multicluster.x-k8s.io/v1beta1/serviceimports'
  const cases: {
    name: string
    pods: 'disabled' | 'insecure' | 'verified'
    hasEndpoints: boolean
    paths: readonly string[]
  }[] = [
    {
      name: 'reads slices for endpoints',
      pods: 'disabled',
      hasEndpoints: true,
      paths: [...always, slices],
    },
    {
      name: 'reads no slices without endpoints',
      pods: 'disabled',
      hasEndpoints: false,
      paths: always,
    },
    {
      name: 'reads no Pods to make names from any address',
      pods: 'insecure',
      hasEndpoints: true,
      paths: [...always, slices],
    },
    {
      name: 'reads Pods to make names of theirs',
      pods: 'verified',
      hasEndpoints: true,
      paths: [...always, slices, pods],
    },
    {
      name: 'reads Pods even without endpoints',
      pods: 'verified',
      hasEndpoints: false,
      paths: [...always, pods],
    },
  ]
  for (const { name, paths, ...options } of cases) {
    test(name, () => {
      assert.deepEqual(
        collectionsFor({ tree: CLUSTER, ...options }).map(({ path }) => path),
        paths,
      )
    })
  }

  const trees = [
    { tree: { kind: 'multicluster' }, paths: [...always, imports, slices, pods] },
    { tree: { kind: 'external' }, paths: [...always, slices] },
  ] as const
  for (const { tree, paths } of trees) {
    test(`reads what ${tree.kind} names come from`, () => {
      const read = collectionsFor({ tree, pods: 'verified', hasEndpoints: true })
      assert.deepEqual(
        read.map(({ path }) => path),
        paths,
      )
    })
  }

  const gatewayApi = '/apis/gateway.networking.k8s.io/v1'
  const ingresses = '/apis/networking.k8s.io/v1/ingresses'
  const hosts: { resources: readonly HostResource[]; paths: readonly string[] }[] = [
    { resources: ['Ingress', 'Service'], paths: [ingresses, '/api/v1/services', slices] },
    { resources: ['Node'], paths: ['/api/v1/nodes'] },
    {
      resources: ['TLSRoute', 'GRPCRoute', 'HTTPRoute'],
      paths: ['tlsroutes', 'grpcroutes', 'httproutes', 'gateways'].map(
        (name) => `${gatewayApi}/${name}`,
      ),
    },
    {
      resources: ['DNSEndpoint', 'VirtualServer'],
      paths: [
        '/apis/externaldns.k8s.io/v1alpha1/dnsendpoints',
        '/apis/k8s.nginx.org/v1/virtualservers',
      ],
    },
  ]
  for (const { resources, paths } of hosts) {
    test(`reads what hostnames of ${resources.join(', ')} come from, and nothing else`, () => {
      const tree = hostsTree({ resources })
      const read = collectionsFor({ tree, pods: 'verified', hasEndpoints: true })
      assert.deepEqual(
        read.map(({ path }) => path),
        paths,
      )
      for (const { kind, path } of read) {
        const [, group = 'v1'] = /^\/(?:api\/v1|apis\/(.+))\/[a-z]+$/.exec(path) ?? []
        const object = parseObject({ apiVersion: group, kind, metadata: { name: 'web' } })
        assert.equal(object?.kind, kind)
      }
    })
  }

  test('reads the router of HostRoutes', () => {
    const of = (kind: 'Gateway' | 'ClusterIP'): string[] => {
      const router = { kind, namespace: 'infra', name: 'nginx' }
      const tree = hostsTree({ resources: ['HostRoute'], router })
      const read = collectionsFor({ tree, pods: 'disabled', hasEndpoints: false })
      return read.map(({ resource }) => resource)
    }
    assert.deepEqual(of('Gateway'), ['hostroutes', 'gateways'])
    assert.deepEqual(of('ClusterIP'), ['hostroutes', 'services'])
  })

  test('does without kinds of the Gateway API that the cluster has not, or has older ones of', () => {
    const tree = hostsTree({ resources: ['HTTPRoute', 'TLSRoute', 'Ingress'] })
    const read = collectionsFor({ tree, pods: 'disabled', hasEndpoints: true })
    assert.deepEqual(
      read.map(({ resource, olderPaths }) => [resource, olderPaths?.length]),
      [
        ['httproutes', 1],
        ['tlsroutes', 2],
        ['ingresses', undefined],
        ['gateways', 1],
      ],
    )
  })

  test('does without imports where the cluster knows of none', () => {
    const read = collectionsFor({ tree: trees[0].tree, pods: 'disabled', hasEndpoints: false })
    const optional = read.filter(({ olderPaths }) => olderPaths !== undefined)
    assert.deepEqual(
      optional.map(({ resource }) => resource),
      ['serviceimports'],
    )
    assert.equal(read.at(-1)?.path, slices)
  })

  const collections = collectionsFor({ tree: CLUSTER, pods: 'verified', hasEndpoints: true })

  test('gives each caller an array of its own', () => {
    assert.notEqual(
      collectionsFor({ tree: CLUSTER, pods: 'verified', hasEndpoints: true }),
      collections,
    )
    assert.equal(collectionsFor({ tree: CLUSTER, pods: 'disabled', hasEndpoints: true }).length, 3)
  })

  for (const { kind, resource, path } of collections) {
    test(`calls ${resource} as the API does`, () => {
      assert.equal(`${kind.toLowerCase()}s`, resource)
      const [, group] = /^\/(?:api\/v1|apis\/(.+))\/[a-z]+$/.exec(path) ?? []
      assert.ok(path.endsWith(`/${resource}`))
      const apiVersion = group ?? 'v1'
      const object = parseObject({ apiVersion, kind, metadata: { name: 'web' } })
      assert.equal(object?.kind, kind)
    })
  }

  test('leaves out the Pods that names would not be made of', () => {
    const selectors = collections.map(({ fieldSelector }) => fieldSelector)
    const [selector = '', ...others] = selectors.filter((text) => text !== undefined)
    assert.deepEqual(others, [])
    const phases = selector.split(',').map((term) => term.replace('status.phase!=', ''))
    assert.deepEqual(phases, ['Succeeded', 'Failed', 'Unknown'])
    for (const phase of phases) {
      const pod = parseObject({ kind: 'Pod', metadata: { name: 'web-0' }, status: { phase } })
      assert.ok(pod?.kind === 'Pod' && pod.isGone)
    }
  })
})

describe('errors', () => {
  test('of the API carry the status, if there was an answer', () => {
    const cause = new TypeError('below')
    const error = new ApiError('services is forbidden', 403, { cause })
    assert.deepEqual([error.name, error.status, error.cause], ['ApiError', 403, cause])
    assert.equal(new ApiError('fetch failed').status, undefined)
  })

  test('of the connection have different names', () => {
    assert.equal(new ConnectionError('no cluster').name, 'ConnectionError')
  })

  test('have the API’s status of an expired version and of an unknown kind', () => {
    const statuses = [STATUS_GONE, STATUS_NOT_FOUND]
    assert.deepEqual(
      statuses.map((status) => STATUS_CODES[status]),
      ['Gone', 'Not Found'],
    )
  })
})

const URL_TEXT = 'https://api.example.org:6443'

const cases: {
  name: string
  options: readonly string[]
  kubeconfig?: string
  connection: ApiConnection
}[] = [
  { name: 'is the default without a word', options: [], connection: { kind: 'default' } },
  {
    name: 'is the flag, as it was given',
    options: [],
    kubeconfig: 'a/config',
    connection: { kind: 'kubeconfig', path: 'a/config', context: undefined },
  },
  {
    name: 'is the flag, whatever the directive says',
    options: ['kubeconfig other context', `endpoint ${URL_TEXT}`],
    kubeconfig: '/a/config',
    connection: { kind: 'kubeconfig', path: '/a/config', context: undefined },
  },
  {
    name: 'is the directive’s kubeconfig, from beside the Corefile',
    options: ['kubeconfig ../config'],
    connection: { kind: 'kubeconfig', path: '/etc/config', context: undefined },
  },
  {
    name: 'is a context of it',
    options: ['kubeconfig /root/config prod'],
    connection: { kind: 'kubeconfig', path: '/root/config', context: 'prod' },
  },
  {
    name: 'is an endpoint',
    options: [`endpoint ${URL_TEXT}`],
    connection: { kind: 'endpoint', url: URL_TEXT, tls: undefined },
  },
  {
    name: 'is an endpoint with files from beside the Corefile',
    options: [`endpoint ${URL_TEXT}`, 'tls cert.pem /keys/key.pem ca.pem'],
    connection: {
      kind: 'endpoint',
      url: URL_TEXT,
      tls: { cert: '/etc/dns/cert.pem', key: '/keys/key.pem', ca: '/etc/dns/ca.pem' },
    },
  },
]
for (const { name, options, kubeconfig = '', connection } of cases) {
  test(`the way to the API server ${name}`, () => {
    const line = parseDirective(directive('kubernetes cluster.local', ...options))
    const found = connectionOf(parseKubernetes(line, []), { kubeconfig, folder: '/etc/dns' })
    assert.deepEqual(found, connection)
  })
}
