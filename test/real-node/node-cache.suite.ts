/**
 * The node cache, by the chart, on a real Kubernetes node: pods resolve through it at the address
 * of the Service kube-dns, and no query is lost when it comes, is replaced or goes.
 * @module
 */
import assert from 'node:assert/strict'
import { afterAll, beforeAll, test } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { type Binaries, prepareBinaries } from '../real-cluster/binaries.ts'
import { builtImage } from './built-images.ts'
import {
  CLIENT_PODS,
  helmChart,
  lookUp,
  podsOf,
  queriesOfCache,
  SYSTEM,
  startCluster,
  waitForDns,
  waitForEnd,
} from './cluster.ts'
import { type KubernetesNode, waitFor } from './node.ts'
import { probeMachine } from './packages.ts'
import { NODE } from './parts.ts'
import { loseNothing, loseNothingAt } from './under-load.ts'

const LOCAL = '169.254.20.10'
const ON = `nodeCache.enabled=true,nodeCache.addresses={${LOCAL},${NODE.dns}}`
const CACHES = 'app.kubernetes.io/component=node-cache'
const DAEMON_SET = 'daemonset/kubedoh-node-cache'

const missing = probeMachine()
const binaries: Binaries | string = missing ?? prepareBinaries('helm')

describeUnless(typeof binaries === 'string' && binaries, 'the cache of a real node', () => {
  let node: KubernetesNode
  beforeAll(async () => {
    assert.ok(typeof binaries !== 'string')
    node = await startCluster(binaries, await builtImage(), await builtImage('node'))
    await helmChart(node, 'install')
    await waitForDns(node)
  })
  afterAll(() => node?.stop())

  const rolledOut = () => node.kubectl(...SYSTEM, 'rollout', 'status', DAEMON_SET, '--timeout=180s')

  test('takes over the Service without a lost query', async () => {
    await loseNothing(node, 'start of the node cache', async () => {
      await helmChart(node, 'upgrade', '--set', ON)
      await rolledOut()
      await waitFor('rules of the cache', async () => (await queriesOfCache(node)) > 0)
    })
    assert.match(await node.exec('ip', '-o', 'address', 'show', 'dev', 'nodelocaldns'), / 169\.254/)
  })

  for (const pod of CLIENT_PODS) {
    test(`resolves names for pods with ${pod}`, async () => {
      const before = await queriesOfCache(node)
      const found = await lookUp(node, pod, ['kubernetes', 'www.example.com', 'nothing'])
      assert.deepEqual([...found.values()], [NODE.apiServer, '192.0.2.80', '-'])
      assert.ok((await queriesOfCache(node)) > before, 'the queries did not reach the cache')
    })
  }

  test('is replaced by another pod without a lost query', async () => {
    await loseNothing(node, 'restart of the node cache', async () => {
      await node.kubectl(...SYSTEM, 'rollout', 'restart', DAEMON_SET)
      await rolledOut()
      await waitFor('one cache', async () => (await podsOf(node, CACHES)).length === 1)
    })
  })

  test('is replaced without a lost query at its own address, which nobody else serves', async () => {
    await loseNothingAt(LOCAL)(node, 'restart of the node cache, its own address', async () => {
      await node.kubectl(...SYSTEM, 'rollout', 'restart', DAEMON_SET)
      await rolledOut()
      await waitFor('one cache', async () => (await podsOf(node, CACHES)).length === 1)
    })
  })

  test('gives the Service back without a lost query', async () => {
    await loseNothing(node, 'end of the node cache', async () => {
      await helmChart(node, 'upgrade', '--set', 'nodeCache.enabled=false')
      await waitForEnd(node, CACHES)
    })
    await assert.rejects(node.exec('ip', 'link', 'show', 'dev', 'nodelocaldns'), /does not exist/)
    for (const pod of CLIENT_PODS) {
      assert.equal((await lookUp(node, pod, ['kubernetes'])).get('kubernetes'), NODE.apiServer)
    }
  })
})
