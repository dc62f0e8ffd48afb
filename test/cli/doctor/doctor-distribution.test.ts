import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { checkDnsService } from '../../../src/cli/doctor/doctor-cluster.ts'
import { type ClusterKind, checkDistribution } from '../../../src/cli/doctor/doctor-distribution.ts'
import type { ApiConnection } from '../../../src/cluster/api/object-api.ts'
import { sendJson, startHttpApi } from '../../cluster/follow/http-api.ts'
import { filesBelow, ROOT } from '../../docs/pages.ts'

/** What the API server has; nodes are refused if absent, as by a role that may not list them. */
type Api = {
  readonly version: string
  readonly nodes?: readonly object[]
  readonly groups?: readonly string[]
}

async function start(t: TestContext, api: Api): Promise<ApiConnection> {
  const url = await startHttpApi(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1')
    if (pathname === '/version') sendJson(response, { gitVersion: api.version })
    else if (pathname === '/apis') {
      sendJson(response, { groups: (api.groups ?? ['apps']).map((name) => ({ name })) })
    } else if (pathname === '/api/v1/nodes' && api.nodes !== undefined) {
      assert.equal(searchParams.get('limit'), '5')
      sendJson(response, { items: api.nodes })
    } else sendJson(response, { message: 'forbidden' }, 403)
  })
  return { kind: 'endpoint', url, tls: undefined }
}

async function check(t: TestContext, api: Api): Promise<ClusterKind> {
  return checkDistribution(await start(t, api))
}

/** A node with a kubelet of a version, a providerID, and labels or annotations. */
function node(kubeletVersion: string, providerID = '', labels: object = {}, annotations = {}) {
  const status = { nodeInfo: { kubeletVersion } }
  return { metadata: { labels, annotations }, spec: { providerID }, status }
}

const KUBEADM = { 'kubeadm.alpha.kubernetes.io/cri-socket': 'unix:///run/containerd/c.sock' }
const AWS = 'aws:///eu-central-1a/i-0123456789abcdef0'
const AZURE = 'azure:///subscriptions/x/virtualMachines/0'
const CASES: readonly (readonly [name: string, page: string, api: Api])[] = [
  ['k3s', 'k3s', { version: 'v1.34.2+k3s1' }],
  ['k3s', 'k3s', { version: 'v1.34.2', nodes: [node('v1.34.2', 'k3s://a')] }],
  ['k3s', 'k3s', { version: 'v1.34.2', nodes: [node('v1.33.6+k3s1', AWS)] }],
  ['RKE2', 'rke2', { version: 'v1.34.2+rke2r1' }],
  ['EKS', 'eks', { version: 'v1.34.1-eks-113cf36' }],
  [
    'EKS',
    'eks',
    { version: 'v1.34.1', nodes: [node('v1.34.1', AWS, { 'eks.amazonaws.com/nodegroup': 'a' })] },
  ],
  [
    'AKS',
    'aks',
    {
      version: 'v1.33.5',
      nodes: [node('v1.33.5', AZURE, { 'kubernetes.azure.com/cluster': 'MC_a' })],
    },
  ],
  ['GKE', 'gke', { version: 'v1.33.5-gke.1201000' }],
  [
    'GKE',
    'gke',
    {
      version: 'v1.33.5',
      nodes: [node('v1.33.5', 'gce://a/b/c', { 'cloud.google.com/gke-nodepool': 'd' })],
    },
  ],
  ['OpenShift', 'openshift', { version: 'v1.33.6', groups: ['apps', 'config.openshift.io'] }],
  [
    'kind',
    'kind-minikube',
    { version: 'v1.34.0', nodes: [node('v1.34.0', 'kind://docker/kind/a', {}, KUBEADM)] },
  ],
  [
    'minikube',
    'kind-minikube',
    { version: 'v1.34.0', nodes: [node('v1.34.0', '', { 'minikube.k8s.io/name': 'a' }, KUBEADM)] },
  ],
  ['kubeadm', 'kubeadm', { version: 'v1.34.4', nodes: [node('v1.34.4', '', {}, KUBEADM)] }],
  [
    'kubeadm',
    'kubeadm',
    { version: 'v1.33.5-eks-1-33-20', nodes: [node('v1.33.5-eks-1-33-20', '', {}, KUBEADM)] },
  ],
  ['a distribution without a page', 'README', { version: 'v1.34.4', nodes: [node('v1.34.4')] }],
  ['a distribution without a page', 'README', { version: 'v1.34.4' }],
]

describe('checkDistribution', () => {
  for (const [name, page, api] of CASES) {
    const signs = JSON.stringify(api.nodes ?? api.groups ?? api.version)
    test(`recognizes ${name} by ${signs}`, async (t) => {
      const text = `${name}, Kubernetes ${api.version}; see docs/install/${page}.md`
      const { findings } = await check(t, api)
      assert.deepEqual(findings, [{ check: 'cluster', state: 'ok', text }])
      assert.ok(existsSync(join(ROOT, `docs/install/${page}.md`)))
    })
  }

  test('names each page of docs/install', () => {
    const named = new Set(CASES.map(([, page]) => `docs/install/${page}.md`))
    assert.deepEqual([...named].sort(), filesBelow('docs/install', '.md'))
  })

  test('is silent about an API server that does not answer', async (t) => {
    const url = await startHttpApi(t, (_, response) => void response.destroy())
    const { findings, service } = await checkDistribution({ kind: 'endpoint', url, tls: undefined })
    assert.deepEqual([findings, service], [[], undefined])
  })

  test('is silent about a kubeconfig that does not exist', async () => {
    const path = join(import.meta.dirname, 'missing')
    const { findings } = await checkDistribution({ kind: 'kubeconfig', path, context: undefined })
    assert.deepEqual(findings, [])
  })
})

describe('the Service of a distribution', () => {
  for (const [version, groups, place] of [
    ['v1.34.2+rke2r1', [], 'kube-system/rke2-coredns-rke2-coredns'],
    ['v1.33.6', ['config.openshift.io'], 'openshift-dns/dns-default'],
  ] as const) {
    test(`${place} is examined where kube-dns does not exist`, async (t) => {
      const { service } = await check(t, { version, groups })
      assert.equal(`${service?.namespace}/${service?.name}`, place)
      const url = await startHttpApi(t, (request, response) => {
        const [namespace, name] = place.split('/')
        const { pathname } = new URL(request.url ?? '', 'http://127.0.0.1')
        if (pathname === `/api/v1/namespaces/${namespace}/services/${name}`) {
          sendJson(response, { spec: { clusterIP: '10.43.0.10', ipFamilies: ['IPv4', 'IPv6'] } })
        } else if (pathname.endsWith(`/${namespace}/endpointslices`)) {
          const slice = { endpoints: [{ addresses: ['10.42.0.3'] }] }
          const selector = new URL(request.url ?? '', url).searchParams.get('labelSelector')
          const isOurs = selector === `kubernetes.io/service-name=${name}`
          sendJson(response, { items: isOurs ? [slice] : [] })
        } else sendJson(response, { message: 'not found' }, 404)
      })
      const connection = { kind: 'endpoint', url, tls: undefined } as const
      const { findings, addresses } = await checkDnsService(connection, undefined, service)
      assert.deepEqual(addresses, ['10.43.0.10'])
      assert.equal(findings[0]?.text, `Service ${place} (10.43.0.10) points to 10.42.0.3`)
    })
  }
})
