/**
 * Memory of pods on a real node, as their cgroups count it.
 * @module
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { podsOf, SYSTEM } from './cluster.ts'
import type { KubernetesNode } from './node.ts'

const MIB = 2 ** 20

/** Memory of a container in MiB, as its cgroup counts it. */
export type Memory = {
  /** Without the page cache, which the kernel takes back before it ends a process. */
  readonly resident: number
  /** The maximum since the start, with the page cache. */
  readonly peak: number
}

/** Returns the memory of the pod that has the highest peak, of those that a selector chooses. */
export async function memoryOf(node: KubernetesNode, selector: string): Promise<Memory> {
  const pods = await podsOf(node, selector)
  const all = await Promise.all(pods.map((pod) => memoryOfPod(node, pod)))
  const [largest] = all.toSorted((a, b) => b.peak - a.peak)
  assert.ok(largest !== undefined, `no pod of ${selector}`)
  return largest
}

/**
 * As {@link memoryOf}.
 * @throws {AssertionError} when a container has restarted
 */
export async function memoryWithoutRestart(
  node: KubernetesNode,
  selector: string,
): Promise<Memory> {
  for (const pod of await podsOf(node, selector)) {
    // Empty unless the container has restarted: then it says why its last process ended.
    const ended = 'jsonpath={.status.containerStatuses[0].lastState}'
    assert.equal(await node.kubectl('get', 'pod', pod, ...SYSTEM, '-o', ended), '{}')
  }
  return memoryOf(node, selector)
}

/** @throws {AssertionError} when the kernel has ended a process for its memory */
async function memoryOfPod(node: KubernetesNode, pod: string): Promise<Memory> {
  const pid = await node.processOf(...SYSTEM, pod)
  const [, path = ''] = /:memory:(.+)/.exec(readFileSync(`/proc/${pid}/cgroup`, 'utf8')) ?? []
  const read = (name: string): string =>
    readFileSync(join('/sys/fs/cgroup/memory', path, `memory.${name}`), 'utf8')
  assert.match(read('oom_control'), /^oom_kill 0$/m)
  const resident = Number(/^total_rss (\d+)$/m.exec(read('stat'))?.[1])
  return { resident: resident / MIB, peak: Number(read('max_usage_in_bytes')) / MIB }
}
