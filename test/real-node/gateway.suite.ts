/**
 * Two exporters and three gateways on one volume, by the chart, on a real Kubernetes node: what is
 * created in the cluster is answered at the gateway, also after the leader is killed.
 * @module
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { createClusterKeys, createToken } from '../../src/exporter/cluster-keys.ts'
import { describeUnless } from '../describe-unless.ts'
import { type Binaries, prepareBinaries } from '../real-cluster/binaries.ts'
import {
  CHART,
  CLIENT_PODS,
  helmChart,
  lookUp,
  SYSTEM,
  startCluster,
  waitForDns,
} from './cluster.ts'
import { type KubernetesNode, waitFor } from './node.ts'
import { probeMachine } from './packages.ts'
import { NODE } from './parts.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const GATEWAY = 'kubedoh-gateway'
const EXPORTER = 'kubedoh-exporter'
const VALUES = [
  'gateway.enabled=true',
  'gateway.replicas=3',
  'gateway.accessModes[0]=ReadWriteMany',
  `gateway.caSecretName=${GATEWAY}-tls`,
  'exporter.enabled=true',
  'exporter.cluster=test',
  `exporter.gateway=https://${GATEWAY}.kube-system.svc`,
]
/**
 * The cluster once more, by a domain that its own DNS does not know. */
const COREFILE = `. {
    kubernetes cluster.local prod.example.org
    prometheus
}
`
/**
 * The cluster's DNS refuses that domain, for musl, which takes the first NXDOMAIN of any
 * server.
 */
const REFUSING = `prod.example.org:53 {
    acl {
        block
    }
}
`
/** The Pod of the example sees its own namespace. */
const ISSUERS = [
  {
    issuer: 'https://kubernetes.default.svc.cluster.local',
    audiences: ['kubedoh'],
    keys: 'cluster:test',
    rules: [
      {
        when: { 'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'shop' } } },
        namespaces: ['default'],
      },
    ],
  },
]
/** The exporters' Lease lasts 2 s. Each of three gateways answers its first query from memory while
 * it looks for a change, and each query here is a process of its own: the rest is for those.
 */
const HANDOVER_MS = 30_000

const missing = probeMachine()
const binaries: Binaries | string = missing ?? prepareBinaries('helm')

/** Returns the first address that the gateway has for a name, or why it has none. */
type Ask = (name: string) => Promise<string>

describeUnless(typeof binaries === 'string' && binaries, 'a gateway on a real node', () => {
  let node: KubernetesNode
  let ask: Ask
  beforeAll(async () => {
    assert.ok(typeof binaries !== 'string')
    node = await startCluster(binaries)
  })
  afterAll(() => node?.stop())

  test('is Ready with its exporters, once their Secrets and the volume exist', async () => {
    const { server } = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'))
    const corefiles = { gateway: COREFILE, server: `${server.corefile}${REFUSING}` }
    const files = Object.entries(corefiles).flatMap(([part, text]) => {
      const path = join(node.folder, `${part}.Corefile`)
      writeFileSync(path, text)
      return ['--set-file', `${part}.corefile=${path}`]
    })
    await helmChart(node, 'install', ...VALUES.flatMap((value) => ['--set', value]), ...files)
    ask = await addSecrets(node)
    await addVolume(node)
    for (const name of [GATEWAY, EXPORTER]) {
      await node.kubectl(...SYSTEM, 'rollout', 'status', `deployment/${name}`, '--timeout=60s')
    }
    assert.equal(await ask('kubernetes.default.svc.cluster.local'), '10.96.0.1')
  })

  test('passes helm test', async () => {
    await node.helm('test', 'kubedoh', ...SYSTEM, '--timeout=60s')
  })

  test('answers a Service that is created', async () => {
    console.log(`a new Service was answered after ${await untilAnswered(node, ask, 'fresh')} ms`)
  })

  for (const library of CLIENT_PODS) {
    test(`answers a Pod of ${library} with a sidecar, which has no secret`, async () => {
      await waitForDns(node)
      const pod = await addSidecar(node, library)
      const jsonpath = 'jsonpath={.spec.clusterIP}'
      const web = await node.kubectl('get', 'service', 'web', '-o', jsonpath)
      const expected = new Map([
        ['web.default.svc.prod.example.org', web],
        ['kube-dns.kube-system.svc.prod.example.org', '-'],
        ['kubernetes', NODE.apiServer],
        ['nothing', '-'],
      ])
      assert.deepEqual(await lookUp(node, pod, [...expected.keys()]), expected)
      const others = await lookUp(node, library, ['web.default.svc.prod.example.org'])
      assert.deepEqual([...others.values()], ['-'])
    })
  }

  test('answers a Service that is created after the leader is killed', async () => {
    const [pod = ''] = (await leaderOf(node)).split('_')
    // SIGTERM, which a deleted pod gets, would let it release the Lease.
    process.kill(await node.processOf(...SYSTEM, pod), 'SIGKILL')
    await node.kubectl(...SYSTEM, 'delete', 'pod', pod, '--grace-period=0', '--force')
    const elapsedMs = await untilAnswered(node, ask, 'later')
    console.log(`a new Service was answered ${elapsedMs} ms after the leader was killed`)
    assert.ok(elapsedMs < HANDOVER_MS)
    const [now = ''] = (await leaderOf(node)).split('_')
    assert.notEqual(now, pod)
    assert.equal(await node.kubectl('get', 'pod', now, ...SYSTEM, '-o', 'name'), `pod/${now}\n`)
  })
})

/** Creates the Secrets for which gateway and exporters wait. */
async function addSecrets(node: KubernetesNode): Promise<Ask> {
  const jsonpath = 'jsonpath={.spec.clusterIP}'
  const address = await node.kubectl(...SYSTEM, 'get', 'service', GATEWAY, '-o', jsonpath)
  const file = (name: string): string => join(node.folder, `gateway.${name}`)
  const names = `subjectAltName=DNS:${GATEWAY}.kube-system.svc,IP:${address}`
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ...['-subj', '/CN=gateway', '-addext', names, '-keyout', file('key'), '-out', file('crt')],
    ],
    { stdio: 'ignore' },
  )
  const { token, signingKey, ...publics } = await createClusterKeys()
  const client = await createToken()
  const certificate = readFileSync(file('crt'), 'utf8')
  const secrets = {
    [`${GATEWAY}-tls`]: {
      'tls.crt': certificate,
      'tls.key': readFileSync(file('key'), 'utf8'),
      'ca.crt': certificate,
    },
    [EXPORTER]: { token, 'signing-key': signingKey },
    [GATEWAY]: {
      CLUSTERS: JSON.stringify({ test: publics }),
      CLIENT_TOKEN_SHA256: client.sha256,
      ISSUERS: JSON.stringify(ISSUERS),
    },
  }
  for (const [name, stringData] of Object.entries(secrets)) {
    const metadata = { name, namespace: 'kube-system' }
    await node.apply(JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata, stringData }))
  }
  const options = ['--server', `https://${address}/dns-query`, '--token', client.token, '--json']
  return async (name) => {
    const text = await node.exec(KUBEDOH, 'query', name, ...options, '--ca', file('crt'))
    const { Answer: [answer] = [], Status: status } = JSON.parse(text)
    return answer?.data ?? `status ${status}`
  }
}

/**
 * Creates the Pod of the example, for this gateway and its certificate, and waits for it. Returns
 * its name.
 */
async function addSidecar(node: KubernetesNode, library: string): Promise<string> {
  const ca = readFileSync(join(node.folder, 'gateway.crt'), 'utf8')
  const metadata = { name: 'gateway-ca' }
  await node.apply(
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'ca.crt': ca } }),
  )
  const text = readFileSync(join(import.meta.dirname, '../../examples/sidecar/pod.yaml'), 'utf8')
  const [account, pod] = parseAllDocuments(
    text.replace('https://dns.example.org', `https://${GATEWAY}.kube-system.svc`),
  ).map((document) => document.toJS())
  const [sidecar] = pod.spec.initContainers
  sidecar.env.push({ name: 'KUBEDOH_CA', value: '/etc/gateway/ca.crt' })
  sidecar.volumeMounts.push({ name: 'ca', mountPath: '/etc/gateway' })
  pod.spec.volumes.push({ name: 'ca', configMap: metadata })
  const image = `localhost/${library}:1`
  pod.spec.containers = [{ name: 'shop', image, imagePullPolicy: 'Never' }]
  pod.metadata.name = `shop-${library}`
  pod.spec.terminationGracePeriodSeconds = 0
  for (const object of [account, pod]) await node.apply(JSON.stringify(object))
  await node.kubectl('wait', '--for=condition=Ready', '--timeout=90s', `pod/shop-${library}`)
  return `shop-${library}`
}

/** Nothing here provides volumes: the node has a folder for the gateway's claim. */
async function addVolume(node: KubernetesNode): Promise<void> {
  const folder = join(node.folder, 'var/gateway')
  mkdirSync(folder)
  // The kubelet does not set the group of folders of the host.
  chmodSync(folder, 0o777)
  const spec = {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteMany'],
    hostPath: { path: '/var/gateway' },
    claimRef: { name: GATEWAY, namespace: 'kube-system' },
  }
  const metadata = { name: GATEWAY }
  await node.apply(JSON.stringify({ apiVersion: 'v1', kind: 'PersistentVolume', metadata, spec }))
}

/** Creates a Service. @returns milliseconds until the gateway has its address */
async function untilAnswered(node: KubernetesNode, ask: Ask, name: string): Promise<number> {
  const begin = performance.now()
  await node.kubectl('create', 'service', 'clusterip', name, '--tcp=80')
  const jsonpath = 'jsonpath={.spec.clusterIP}'
  const address = await node.kubectl('get', 'service', name, '-o', jsonpath)
  const isAnswered = async (): Promise<boolean> =>
    (await ask(`${name}.default.svc.cluster.local`)) === address
  await waitFor(`${name} at the gateway`, isAnswered)
  return Math.round(performance.now() - begin)
}

/** Returns the identity that holds the exporters' Lease: the name of its pod, `_` and a UUID. */
function leaderOf(node: KubernetesNode): Promise<string> {
  const holder = 'jsonpath={.spec.holderIdentity}'
  return node.kubectl(...SYSTEM, 'get', 'lease', EXPORTER, '-o', holder)
}
