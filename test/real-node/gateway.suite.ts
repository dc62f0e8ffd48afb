/**
 * Two exporters and three gateways on one volume, by the chart, on a real Kubernetes node: what is
 * created in the cluster is answered at the gateway, also after the leader is killed.
 * @module
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { describeUnless } from '../describe-unless.ts'
import { type Binaries, prepareBinaries } from '../real-cluster/binaries.ts'
import { CHART, CLIENT_PODS, lookUp, SYSTEM, startCluster, waitForDns } from './cluster.ts'
import { ACTIONS, gatewayAddresses, killGateway } from './gateway-actions.ts'
import { clientsDuring } from './gateway-load.ts'
import { type Ask, EXPORTER, GATEWAY, type Gateway, installGateway } from './gateway-setup.ts'
import { type KubernetesNode, waitFor } from './node.ts'
import { probeMachine } from './packages.ts'
import { NODE } from './parts.ts'

const CHANGE = join(import.meta.dirname, 'gateway-change.ts')
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
/** The exporters' Lease lasts 2 s. Each of three gateways answers its first query from memory while
 * it looks for a change, and each query here is a process of its own: the rest is for those.
 */
const HANDOVER_MS = 30_000

const missing = probeMachine()
const binaries: Binaries | string = missing ?? prepareBinaries('helm')

describeUnless(typeof binaries === 'string' && binaries, 'a gateway on a real node', () => {
  let node: KubernetesNode
  let gateway: Gateway
  const ask: Ask = (name) => gateway.ask(name)
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
    gateway = await installGateway(node, ...files)
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

  test('answers a change from each of its three pods', async () => {
    const hosts = await gatewayAddresses(node)
    assert.equal(hosts.length, 3)
    const name = 'change.default.svc.cluster.local'
    const args = [JSON.stringify(gateway.asked), name, ...hosts]
    const answered = node.exec(process.execPath, CHANGE, ...args)
    // The program has to have asked for a name that does not exist yet.
    await sleep(1000)
    await node.kubectl('create', 'service', 'clusterip', 'change', '--tcp=80')
    const createdMs = Date.now()
    const times: readonly number[] = JSON.parse(await answered)
    const delays = times.map((ms) => ms - createdMs).join(', ')
    console.log(`a new Service was answered ${delays} ms after kubectl had created it`)
  })

  for (const [what, action] of ACTIONS) {
    test(`fails no request: ${what}`, async () => {
      const counts = await clientsDuring(node, gateway.asked, [what, () => action(node, gateway)])
      assert.deepEqual(counts.reasons, {})
    })
  }

  test('fails few requests when one of its pods is killed', async () => {
    const kill = () => killGateway(node)
    const { clients, failed } = await clientsDuring(node, gateway.asked, ['a pod is killed', kill])
    // kube-proxy chooses the pod that is no more for a third of connections, until it knows.
    assert.ok(failed < clients / 4, `${failed} of ${clients}`)
  })
})

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
