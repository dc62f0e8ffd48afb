/**
 * A cluster of two nodes, of which one is lost without warning, with a server on each: what pods on
 * the other see of kubedoh, of CoreDNS in the same place, and with the node cache.
 * @module
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, test } from 'vitest'
import type { Image } from '../../build/image/oci.ts'
import { describeUnless } from '../describe-unless.ts'
import type { Counts } from '../faults/checking-client.ts'
import { type Binaries, prepareBinaries } from '../real-cluster/binaries.ts'
import { builtImage } from './built-images.ts'
import {
  helmChart,
  lookUp,
  queriesOfCache,
  SYSTEM,
  scaleCoreDns,
  startTwoNodes,
  type Two,
  waitForDns,
  waitForServers,
} from './cluster.ts'
import { waitFor } from './node.ts'
import { probeMachine } from './packages.ts'
import { NODE, SECOND } from './parts.ts'
import { countDuring } from './under-load.ts'

const PER_SECOND = 200
/** In CI, what only compares is left out. */
const IS_SHORT = process.env.CI !== undefined
/** Time for which queries are sent before and after the cluster knows of the loss. */
const AROUND_MS = 5000

const missing = probeMachine()
const binaries: Binaries | string = missing ?? prepareBinaries('helm')

describeUnless(typeof binaries === 'string' && binaries, 'two nodes, one lost', () => {
  let images: readonly Image[]
  let two: Two
  beforeAll(async () => {
    images = [await builtImage(), await builtImage('node')]
  })
  beforeEach(async () => {
    assert.ok(typeof binaries !== 'string')
    two = await startTwoNodes(binaries, ...images)
  })
  afterEach(async () => {
    // One that has not started has stopped itself.
    await two?.second.stop()
    await two?.node.stop()
  })

  test('a server and a node cache on each node', async () => {
    const { node } = two
    const addresses = `{169.254.20.10,${NODE.dns}}`
    const cache = `nodeCache.enabled=true,nodeCache.addresses=${addresses}`
    await helmChart(node, 'install', '--set', cache)
    await waitForServers(node)
    const set = 'daemonset/kubedoh-node-cache'
    await node.kubectl(...SYSTEM, 'rollout', 'status', set, '--timeout=180s')
    await waitFor('rules of the cache', async () => {
      await lookUp(node, 'glibc', ['kubernetes'])
      return (await queriesOfCache(node)) > 0
    })
    await assertOnBoth(two, 'app.kubernetes.io/component=server')
    const { right, late, lost } = await loseSecond(two, 'kubedoh with its node cache')
    assert.equal(lost, 0)
    assert.ok(late < right / 100, `${late} late`)
  })

  if (IS_SHORT) {
    console.log(
      'left out: kubedoh and CoreDNS without a node cache, which take over two minutes; without CI ' +
        'the suite has them',
    )
    return
  }
  test('a server on each node', async () => {
    await helmChart(two.node, 'install')
    await waitForServers(two.node)
    await waitForDns(two.node)
    await assertOnBoth(two, 'app.kubernetes.io/component=server')
    await loseSecond(two, 'kubedoh')
  })

  test('CoreDNS on each node', async () => {
    await scaleCoreDns(two.node, 2)
    await waitForDns(two.node)
    await assertOnBoth(two, 'k8s-app=kube-dns')
    await loseSecond(two, 'CoreDNS')
  })
})

/**
 * Ends the second node while queries come from the first, until Services know. Returns how they
 * ended.
 */
async function loseSecond({ node, second }: Two, what: string): Promise<Counts> {
  const { counts } = await countDuring(
    { node, address: NODE.dns, what: `${what}, one of two nodes lost`, perSecond: PER_SECOND },
    async () => {
      await sleep(AROUND_MS)
      const begin = performance.now()
      await second.stop()
      await waitFor('the end of its endpoints', async () => {
        const jsonpath = 'jsonpath={.items[*].endpoints[?(@.conditions.ready==true)].nodeName}'
        const selector = 'kubernetes.io/service-name=kube-dns'
        const names = await node.kubectl(
          ...[...SYSTEM, 'get', 'endpointslices', '-l', selector, '-o', jsonpath],
        )
        return !names.includes(SECOND.name)
      })
      const seconds = ((performance.now() - begin) / 1000).toFixed(1)
      console.log(`${what}: the Service was without the lost node after ${seconds} s`)
      await sleep(AROUND_MS)
    },
  )
  assert.equal(counts.wrong, 0, counts.examples.join(', '))
  // A cache may try a dead server twice, and say so.
  assert.ok(counts.failed < counts.right / 1000, counts.examples.join(', '))
  return counts
}

async function assertOnBoth({ node }: Two, selector: string): Promise<void> {
  const names = 'jsonpath={.items[*].spec.nodeName}'
  const text = await node.kubectl(...SYSTEM, 'get', 'pods', '-l', selector, '-o', names)
  assert.deepEqual(text.split(' ').sort(), ['node1', 'node2'])
}
