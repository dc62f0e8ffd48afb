/**
 * Size and memory of the server beside CoreDNS's, on the same node with the same 50,000 endpoints.
 * @module
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, test } from 'vitest'
import type { Image } from '../../build/image/oci.ts'
import { describeUnless } from '../describe-unless.ts'
import { type Binaries, prepareBinaries } from '../real-cluster/binaries.ts'
import { builtImage } from './built-images.ts'
import {
  CHART,
  COREDNS_PODS,
  lookUp,
  SERVERS,
  SYSTEM,
  scaleCoreDns,
  startCluster,
  waitForRollout,
} from './cluster.ts'
import { type KubernetesNode, waitFor } from './node.ts'
import { probeMachine } from './packages.ts'
import { type Memory, memoryWithoutRestart } from './pod-memory.ts'

/** Headless Services, and the endpoints of each. */
const [SERVICES, PER_SERVICE] = [500, 100]
/** The limit of the Deployment that kubeadm creates, which test/real-node/coredns.yaml has. */
const KUBEADM_MIB = 170

const missing = probeMachine()
const binaries: Binaries | string = missing ?? prepareBinaries('helm')

describeUnless(typeof binaries === 'string' && binaries, 'a server with 50,000 endpoints', () => {
  let node: KubernetesNode
  let image: Image
  const last = `large-${SERVICES - 1}`
  const rows: string[] = []
  const report = (name: string, bytes: number, { resident, peak }: Memory): void => {
    const size = `${(bytes / 1e6).toFixed(1)} MB compressed`
    rows.push(`${name}: ${size}; ${resident.toFixed(0)} MiB resident, peak ${peak.toFixed(0)} MiB`)
  }
  beforeAll(async () => {
    assert.ok(typeof binaries !== 'string')
    image = await builtImage()
    node = await startCluster(binaries, image)
  })
  afterAll(async () => {
    await node?.stop()
    if (rows.length > 0) console.log(rows.join('\n'))
  })

  /**
   * Installs the chart, and reports the memory of its servers once they answer for the last
   * name.
   */
  async function measure(name: string, limit: string, meanwhile = async () => {}): Promise<void> {
    const set = limit === '' ? [] : ['--set', `server.resources.limits.memory=${limit}`]
    // Without reports of slow turns, which take memory.
    await node.helm('install', 'kubedoh', CHART, ...SYSTEM, ...set)
    try {
      await waitForRollout(node)
      await meanwhile()
      await waitForName(node, last)
      report(`kubedoh, ${name}`, image.size, await memoryWithoutRestart(node, SERVERS))
    } finally {
      await node.helm('uninstall', 'kubedoh', '--namespace', 'kube-system', '--wait')
    }
  }

  test(`a server with kubeadm's limit stays while the endpoints appear`, async () => {
    const name = `kubeadm's limit of ${KUBEADM_MIB}Mi, while they appear`
    await measure(name, `${KUBEADM_MIB}Mi`, () => createEndpoints(node))
  })

  const compares = process.env.CI === undefined
  if (!compares) console.log('left out: the memory of CoreDNS; without CI the suite has it')
  test.runIf(compares)('CoreDNS runs with the limit of kubeadm, to compare with', async () => {
    assert.ok(typeof binaries !== 'string')
    await scaleCoreDns(node, 1)
    await waitForName(node, last)
    // No registry has its image for this suite. CoreDNS's Makefile strips the binary, too.
    const path = join(node.folder, 'coredns')
    execFileSync('strip', ['-o', path, binaries.coredns])
    const { length } = gzipSync(readFileSync(path))
    const name = 'CoreDNS (the stripped binary; its image has that on distroless/static)'
    report(
      `${name}, limit ${KUBEADM_MIB}Mi`,
      length,
      await memoryWithoutRestart(node, COREDNS_PODS),
    )
    await scaleCoreDns(node, 0)
  })

  for (const limit of [`${KUBEADM_MIB}Mi`, '']) {
    const name = limit === '' ? "the chart's limit" : `kubeadm's limit of ${limit}`
    test(`a server starts with ${name}`, async () => {
      await measure(name, limit)
    })
  }
})

/** Creates headless Services without selectors, and their endpoints; `apply`: a test may repeat. */
async function createEndpoints(node: KubernetesNode): Promise<void> {
  const numbers = Array.from({ length: SERVICES }, (_, i) => i)
  const items = numbers.flatMap((i) => [service(i), slice(i)])
  const list = { apiVersion: 'v1', kind: 'List', items }
  await node.kubectlWith(JSON.stringify(list), 'apply', '--server-side', '-f', '-')
}

function service(i: number): unknown {
  const spec = { clusterIP: 'None', ports: [{ name: 'http', port: 80 }] }
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: `large-${i}` }, spec }
}

/** With the label that lets kube-proxy ignore them. */
function slice(i: number): unknown {
  const name = `large-${i}`
  const labels = { 'kubernetes.io/service-name': name, 'service.kubernetes.io/headless': '' }
  const endpoints = Array.from({ length: PER_SERVICE }, (_, j) => ({
    addresses: [`10.${100 + (i >> 8)}.${i & 255}.${j}`],
    conditions: { ready: true },
    hostname: `host-${i}-${j}`,
  }))
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, labels },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 80 }],
    endpoints,
  }
}

function waitForName(node: KubernetesNode, name: string): Promise<void> {
  const host = `host-${SERVICES - 1}-0.${name}`
  return waitFor(`the address of ${host}`, async () => {
    return (await lookUp(node, 'musl', [host])).get(host) !== '-'
  })
}
