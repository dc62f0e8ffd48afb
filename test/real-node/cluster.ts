/**
 * The cluster of the suite: a node with our image, CoreDNS's, and pods that resolve names.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildImage } from '../../build/image/image.ts'
import { type Binaries, COREDNS } from '../cluster/binaries.ts'
import { buildTestImages } from './images.ts'
import { KubernetesNode, waitFor } from './node.ts'
import { prepareDebian } from './packages.ts'
import { NODE } from './parts.ts'

const CHART = join(import.meta.dirname, '../../deploy/chart')

/** Names of the programs' pods, by C library. */
export const CLIENT_PODS: readonly string[] = ['glibc', 'musl']

/** Starts a node with all images and pods. The Service kube-dns has no pods: CoreDNS is scaled to 0. */
export async function startCluster(binaries: Binaries): Promise<KubernetesNode> {
  const image = await buildImage(['amd64'])
  const archives = [...buildTestImages(binaries.coredns, prepareDebian()), image.archive]
  const node = await KubernetesNode.start(binaries)
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
    await node.apply(read('coredns.yaml').replace('VERSION', COREDNS))
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

/** Runs `helm ACTION kubedoh` with the chart in kube-system. @param options such as `--set` */
export async function helmChart(
  node: KubernetesNode,
  action: 'install' | 'upgrade',
  ...options: readonly string[]
): Promise<void> {
  await node.helm(action, 'kubedoh', CHART, '--namespace', 'kube-system', ...options)
}

/**
 * Looks up names with the C library of a pod.
 * @returns addresses sorted with commas between, the name of an address, or `-`, by what was looked up
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
