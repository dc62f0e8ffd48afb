/**
 * kubeadm's own phase `addon coredns`, which `kubeadm upgrade` repeats, around the steps of
 * docs/install/kubeadm.md: what it puts back, and that pods keep their DNS meanwhile.
 * @module
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import {
  type Binaries,
  COREDNS,
  KUBERNETES,
  prepareBinaries,
  prepareKubeadm,
} from '../real-cluster/binaries.ts'
import {
  COREDNS_PODS,
  helmChart,
  podsOf,
  SERVERS,
  SYSTEM,
  scaleCoreDns,
  startCluster,
  waitForDns,
  waitForServers,
} from './cluster.ts'
import type { KubernetesNode } from './node.ts'
import { probeMachine } from './packages.ts'
import { NODE } from './parts.ts'
import { loseNothing } from './under-load.ts'

/** CoreDNS of this kubeadm, which refuses to migrate from one that it does not know. */
const OF_KUBEADM = 'v1.12.1'

const missing = probeMachine()
const binaries: Binaries | string = missing ?? prepareBinaries('helm')
const kubeadm = typeof binaries === 'string' ? '' : prepareKubeadm()

describeUnless(typeof binaries === 'string' && binaries, 'a node of kubeadm', () => {
  let node: KubernetesNode
  beforeAll(async () => {
    assert.ok(typeof binaries !== 'string')
    node = await startCluster(binaries)
    // kubeadm makes all of them anew.
    const own = ['deployment/coredns', 'service/kube-dns', 'configmap/coredns']
    await node.kubectl(...SYSTEM, 'delete', ...own)
    await node.tagImage(`localhost/coredns:${COREDNS}`, `localhost/coredns:${OF_KUBEADM}`)
    writeFileSync(join(node.folder, 'kubeadm.yaml'), CONFIGURATION)
  })
  afterAll(() => node?.stop())

  const addon = (): Promise<string> =>
    node.exec(
      ...([kubeadm, 'init', 'phase', 'addon', 'coredns'] as const),
      ...['--config', join(node.folder, 'kubeadm.yaml')],
      ...['--kubeconfig', join(node.folder, 'admin.conf')],
    )

  const read = (kind: string, path: string): Promise<string> =>
    node.kubectl(...SYSTEM, 'get', kind, '-o', `jsonpath=${path}`)

  test('has the CoreDNS of the addon, then the chart beside it and in its place', async () => {
    await addon()
    const rolledOut = ['rollout', 'status', 'deployment/coredns', '--timeout=60s']
    await node.kubectl(...SYSTEM, ...rolledOut)
    assert.equal(await read('service/kube-dns', '{.spec.clusterIP}'), NODE.dns)
    await helmChart(node, 'install')
    await waitForServers(node)
    await scaleCoreDns(node, 0)
    await waitForDns(node)
  })

  test('keeps its DNS when an upgrade applies the addon again', async () => {
    const servers = await podsOf(node, SERVERS)
    await loseNothing(node, "kubeadm's addon again", addon)
    assert.equal(await read('deployment/coredns', '{.spec.replicas}'), '0')
    assert.equal(await read('service/kube-dns', '{.spec.selector}'), '{"k8s-app":"kube-dns"}')
    assert.deepEqual(await podsOf(node, SERVERS), servers)
    assert.deepEqual(await podsOf(node, COREDNS_PODS), [])
  })

  test('has CoreDNS of the addon again once that was deleted', async () => {
    await node.kubectl(...SYSTEM, 'delete', 'deployment/coredns')
    await addon()
    assert.equal(await read('deployment/coredns', '{.spec.replicas}'), '2')
  })
})

const CONFIGURATION = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v${KUBERNETES}
imageRepository: localhost
networking:
  serviceSubnet: ${NODE.services}
  dnsDomain: ${NODE.domain}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint:
  advertiseAddress: ${NODE.ip}
nodeRegistration:
  criSocket: unix:///run/containerd/containerd.sock
`
