/**
 * The cluster of the suite: a node with our image, CoreDNS's, and pods that resolve names.
 * @module
 */
import { appendFileSync, chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Image } from '../../build/image/oci.ts'
import { type Binaries, COREDNS } from '../real-cluster/binaries.ts'
import { builtImage } from './built-images.ts'
import { buildTestImages } from './images.ts'
import { KubernetesNode, waitFor } from './node.ts'
import { prepareDebian } from './packages.ts'
import { NODE } from './parts.ts'

/** Folder of the chart. */
export const CHART: string = join(import.meta.dirname, '../../deploy/chart')
/** Options of kubectl for the namespace of the servers. */
export const SYSTEM: readonly string[] = ['--namespace', 'kube-system']

/** Selects the pods of the server. */
export const SERVERS = 'app.kubernetes.io/component=server'
/** Selects the pods of CoreDNS. */
export const COREDNS_PODS = 'k8s-app=kube-dns,!app.kubernetes.io/name'

/** What runs the gateways: `node` or `bun`, by KUBEDOH_GATEWAY_RUNTIME. */
export const GATEWAY_RUNTIME: string = process.env.KUBEDOH_GATEWAY_RUNTIME ?? 'node'

/** Names of the programs' pods, by C library. */
export const CLIENT_PODS: readonly string[] = ['glibc', 'musl']

/**
 * Starts a node with all images and pods. The Service kube-dns has no pods: CoreDNS is scaled to 0.
 * @param images of kubedoh; without, the default one is built
 */
export async function startCluster(
  binaries: Binaries,
  ...images: readonly Image[]
): Promise<KubernetesNode> {
  const archives = await archivesFor(binaries, images)
  const node = await KubernetesNode.start(binaries)
  return withPods(node, archives)
}

/** A cluster of two nodes. */
export type Two = { readonly node: KubernetesNode; readonly second: KubernetesNode }

/**
 * Starts two nodes with all images, and with pods at the first one. The cluster takes 12 s to know
 * that a node is lost; Kubernetes' default is 50.
 * @param images of kubedoh; without, the default one is built
 */
export async function startTwoNodes(binaries: Binaries, ...images: readonly Image[]): Promise<Two> {
  const archives = await archivesFor(binaries, images)
  const node = await withPods(await KubernetesNode.start(binaries, 12), archives)
  try {
    const second = await node.startSecond()
    for (const archive of archives) await second.importImage(archive)
    return { node, second }
  } catch (error) {
    await node.stop()
    throw error
  }
}

async function archivesFor(binaries: Binaries, images: readonly Image[]): Promise<Uint8Array[]> {
  const own = images.length > 0 ? images : [await builtImage()]
  const more = GATEWAY_RUNTIME === 'bun' ? [await builtImage('bun')] : []
  const test = buildTestImages(binaries.coredns, prepareDebian())
  return [...test, ...[...own, ...more].map(({ archive }) => archive)]
}

async function withPods(
  node: KubernetesNode,
  archives: readonly Uint8Array[],
): Promise<KubernetesNode> {
  try {
    for (const archive of archives) await node.importImage(archive)
    const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8')
    const corefile = read('../corefiles/kubeadm.Corefile')
    await node.apply(
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'coredns', namespace: 'kube-system' },
        data: { Corefile: corefile },
      }),
    )
    await node.apply(read('coredns.yaml').replace('VERSION', COREDNS).replace('ADDRESS', NODE.dns))
    await node.apply(read('workloads.yaml'))
    await node.kubectl('rollout', 'status', 'statefulset/db', '--timeout=60s')
    const pods = CLIENT_PODS.map((name) => `pod/${name}`)
    await node.kubectl('wait', '--for=condition=Ready', '--timeout=60s', ...pods)
    return node
  } catch (error) {
    await node.stop()
    throw error
  }
}

/** Runs `helm ACTION kubedoh` with a chart in kube-system. */
export type HelmChart = (
  node: KubernetesNode,
  action: 'install' | 'upgrade',
  ...options: readonly string[]
) => Promise<void>

/**
 * Runs `helm ACTION kubedoh` with the chart in kube-system. The pods report slow turns of their
 * event loops to the suite. Its options are such as `--set`.
 */
export const helmChart: HelmChart = helmChartIn(CHART)

/** Returns a function that does as {@link helmChart} does, with the chart in another folder. */
export function helmChartIn(chart: string): HelmChart {
  return async (node, action, ...options) => {
    const values = ['--values', writeSlowTurnValues(node)]
    await node.helm(action, 'kubedoh', chart, '--namespace', 'kube-system', ...values, ...options)
  }
}

/**
 * Writes values of the chart by which pods report slow turns of event loops. Returns their
 * path.
 */
export function writeSlowTurnValues(node: KubernetesNode): string {
  const path = process.env.KUBEDOH_SLOW_TURNS ?? ''
  // Pods have users of their own.
  appendFileSync(path, '')
  chmodSync(path, 0o666)
  const pods = {
    env: [{ name: 'KUBEDOH_SLOW_TURNS', value: '/slow-turns' }],
    extraVolumes: [{ name: 'slow-turns', hostPath: { path, type: 'File' } }],
    extraVolumeMounts: [{ name: 'slow-turns', mountPath: '/slow-turns' }],
  }
  const parts = ['server', 'exporter', 'gateway', 'nodeCache']
  const values = join(node.folder, 'slow-turns.json')
  writeFileSync(values, JSON.stringify(Object.fromEntries(parts.map((part) => [part, pods]))))
  return values
}

/**
 * Looks up names with the C library of a pod.
 * @returns addresses sorted with commas between, the name of an address, or `-`, by what was looked
 * up
 */
export async function lookUp(
  node: KubernetesNode,
  pod: string,
  names: readonly string[],
): Promise<Map<string, string>> {
  const output = await node.kubectl('exec', pod, '--', '/resolve', ...names)
  const rows = output.trimEnd().split('\n')
  return new Map(
    rows.map((row) => {
      const [name = '', found = ''] = row.split(' ')
      return [name, found.split(',').sort().join(',')]
    }),
  )
}

/** Waits until the cluster's DNS has an address for the API server. */
export function waitForDns(node: KubernetesNode): Promise<void> {
  return waitFor('the DNS of the cluster', async () => {
    const found = await lookUp(node, 'musl', ['kubernetes'])
    return found.get('kubernetes') === NODE.apiServer
  })
}

/** Returns the names of the pods that a selector chooses. */
export async function podsOf(node: KubernetesNode, selector: string): Promise<string[]> {
  const names = ['-o', 'jsonpath={.items[*].metadata.name}']
  const text = await node.kubectl('get', 'pods', ...SYSTEM, '--selector', selector, ...names)
  return text.split(' ').filter((name) => name !== '')
}

/** Waits until all servers of the newest version are Ready. */
export async function waitForRollout(node: KubernetesNode): Promise<void> {
  await node.kubectl(...SYSTEM, 'rollout', 'status', 'deployment/kubedoh-server', '--timeout=60s')
}

/** Waits until all servers are Ready, and pods that end are gone. */
export async function waitForServers(node: KubernetesNode): Promise<void> {
  await waitForRollout(node)
  await waitFor('the end of old servers', async () => (await podsOf(node, SERVERS)).length === 2)
}

/** Waits until no pod that a selector chooses is left. */
export function waitForEnd(node: KubernetesNode, selector: string): Promise<void> {
  return waitFor('the end of pods', async () => (await podsOf(node, selector)).length === 0)
}

/** Scales CoreDNS. Resolves when its pods are Ready, or gone. */
export async function scaleCoreDns(node: KubernetesNode, replicas: number): Promise<void> {
  await node.kubectl(...SYSTEM, 'scale', 'deployment/coredns', `--replicas=${replicas}`)
  await node.kubectl(...SYSTEM, 'rollout', 'status', 'deployment/coredns', '--timeout=60s')
  if (replicas === 0) await waitForEnd(node, COREDNS_PODS)
}

/** Sends queries of the Service kube-dns only to pods of this name; undefined: to all again. */
export async function narrowService(node: KubernetesNode, name: string | undefined): Promise<void> {
  const change = { spec: { selector: { 'app.kubernetes.io/name': name ?? null } } }
  await node.kubectl(...SYSTEM, 'patch', 'service', 'kube-dns', '--patch', JSON.stringify(change))
}

/** Evicts a pod as `kubectl drain` does. @throws {Error} when its PodDisruptionBudget forbids it */
export async function evict(node: KubernetesNode, pod: string): Promise<void> {
  const path = `/api/v1/namespaces/kube-system/pods/${pod}/eviction`
  const eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: pod, namespace: 'kube-system' },
  }
  await node.kubectlWith(JSON.stringify(eviction), 'create', '--raw', path, '-f', '-')
}

/** Kills the process of a pod in kube-system. Resolves when its container has started again. */
export async function crash(node: KubernetesNode, pod: string): Promise<void> {
  const count = 'jsonpath={.status.containerStatuses[0].restartCount}'
  const restarts = () => node.kubectl('get', 'pod', pod, ...SYSTEM, '-o', count)
  const before = await restarts()
  process.kill(await node.processOf(...SYSTEM, pod), 'SIGKILL')
  await waitFor('the restart', async () => (await restarts()) !== before)
}

/** Returns how many queries the node cache has answered, or 0 without a cache. */
export async function queriesOfCache(node: KubernetesNode): Promise<number> {
  const script = `fetch('http://127.0.0.1:9253/metrics').then((r) => r.text()).then(console.log, () => {})`
  const text = await node.exec(process.execPath, '-e', script)
  const rows = text.matchAll(/^coredns_dns_requests_total\{.*\} (\d+)$/gm)
  return [...rows].reduce((sum, [, count]) => sum + Number(count), 0)
}
