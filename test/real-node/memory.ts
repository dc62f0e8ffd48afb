/**
 * Memory of servers in their pods, with many endpoints.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { podsOf, SYSTEM } from './cluster.ts'
import type { KubernetesNode } from './node.ts'

/** Endpoints that {@link createEndpoints} creates: 500 headless Services with 100 each. */
export const ENDPOINTS = 50_000
const PER_SERVICE = 100
const MIB = 2 ** 20

/** Memory of a server's container in MiB, as its cgroup counts it. */
export type Memory = {
  /** Without the page cache, which the kernel takes back before it ends a process. */
  readonly anonymous: number
  /** The most so far, with the page cache. */
  readonly peak: number
  readonly limit: number
  /** Processes that the kernel has ended for want of memory, now and before restarts. */
  readonly ended: number
}

/** Creates headless Services without selectors, and their endpoints. @returns the last name */
export async function createEndpoints(node: KubernetesNode): Promise<string> {
  const numbers = Array.from({ length: ENDPOINTS / PER_SERVICE }, (_, i) => i)
  const items = numbers.flatMap((i) => [service(i), slice(i)])
  const list = { apiVersion: 'v1', kind: 'List', items }
  await node.kubectlWith(JSON.stringify(list), 'create', '-f', '-')
  return `large-${numbers.length - 1}`
}

function service(i: number): unknown {
  const spec = { clusterIP: 'None', ports: [{ name: 'http', port: 80 }] }
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: `large-${i}` }, spec }
}

/** With the label that lets kube-proxy ignore them. */
function slice(i: number): unknown {
  const name = `large-${i}`
  const addresses = Array.from(
    { length: PER_SERVICE },
    (_, j) => `10.${100 + (i >> 8)}.${i & 255}.${j}`,
  )
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name,
      labels: { 'kubernetes.io/service-name': name, 'service.kubernetes.io/headless': '' },
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 80 }],
    endpoints: addresses.map((address) => ({
      addresses: [address],
      conditions: { ready: true },
      hostname: `host-${address.replaceAll('.', '-')}`,
    })),
  }
}

/** Returns the memory of the server that has the least left, of those that a selector chooses. */
export async function largestOf(node: KubernetesNode, selector: string): Promise<Memory> {
  const pods = await podsOf(node, selector)
  const all = await Promise.all(pods.map((pod) => memoryOf(node, pod)))
  const [largest] = all.sort((a, b) => b.ended - a.ended || b.anonymous - a.anonymous)
  if (largest === undefined) throw new Error(`no pod of ${selector}`)
  return largest
}

async function memoryOf(node: KubernetesNode, pod: string): Promise<Memory> {
  const pid = await node.processOf(...SYSTEM, pod)
  const [, path = ''] = /:memory:(.+)/.exec(readFileSync(`/proc/${pid}/cgroup`, 'utf8')) ?? []
  const read = (name: string): string =>
    readFileSync(join('/sys/fs/cgroup/memory', path, `memory.${name}`), 'utf8')
  const restarts = 'jsonpath={.status.containerStatuses[0].restartCount}'
  return {
    anonymous: numberAfter('total_rss ', read('stat')) / MIB,
    peak: Number(read('max_usage_in_bytes')) / MIB,
    limit: Number(read('limit_in_bytes')) / MIB,
    ended:
      numberAfter('oom_kill ', read('oom_control')) +
      Number(await node.kubectl('get', 'pod', pod, ...SYSTEM, '-o', restarts)),
  }
}

function numberAfter(name: string, text: string): number {
  const row = text.split('\n').find((one) => one.startsWith(name))
  return Number(row?.slice(name.length))
}
