/**
 * Our image and our chart on a real Kubernetes node: pods resolve names with the resolvers of glibc
 * and musl, and no query is lost when servers stop, crash or change.
 * @module
 */
import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, test } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { type Binaries, prepareBinaries } from '../real-cluster/binaries.ts'
import {
  CLIENT_PODS,
  crash,
  evict,
  helmChart,
  lookUp,
  narrowService,
  podsOf,
  SERVERS,
  scaleCoreDns,
  startCluster,
  waitForDns,
  waitForEnd,
  waitForRollout,
  waitForServers,
} from './cluster.ts'
import type { KubernetesNode } from './node.ts'
import { probeMachine } from './packages.ts'
import { NODE } from './parts.ts'
import { loseNothing } from './under-load.ts'

/** An operator's patience; the start of a server takes some seconds. */
const INSTALLED_MS = 60_000
/**
 * Time for kube-proxy to delete the conntrack entries of CoreDNS before it ends, as the docs
 * say.
 */
const CONNTRACK_MS = 60_000
/** Share of late responses in a planned change: usually 0, and some when the machine is busy. */
const LATE_MAX = 0.01

const missing = probeMachine()
const binaries: Binaries | string = missing ?? prepareBinaries('helm')

describeUnless(typeof binaries === 'string' && binaries, 'a real node', () => {
  let node: KubernetesNode
  beforeAll(async () => {
    assert.ok(typeof binaries !== 'string')
    node = await startCluster(binaries)
  })
  afterAll(() => node?.stop())

  test(`resolves names less than ${INSTALLED_MS / 1000} s after helm install`, async () => {
    const begin = performance.now()
    await helmChart(node, 'install')
    await waitForDns(node)
    const elapsedMs = performance.now() - begin
    console.log(`helm install to the first response: ${(elapsedMs / 1000).toFixed(1)} s`)
    assert.ok(elapsedMs < INSTALLED_MS)
  })

  for (const pod of CLIENT_PODS) {
    test(`has every name for pods with ${pod}`, async () => {
      const expected = await namesAndAddresses(node)
      assert.deepEqual(await lookUp(node, pod, [...expected.keys()]), expected)
    })
  }

  test('answers every query during a rolling update', async () => {
    const { late } = await loseNothing(node, 'rolling update', async () => {
      await node.kubectl('rollout', 'restart', 'deployment/kubedoh-server', '-n', 'kube-system')
      await waitForServers(node)
    })
    assert.ok(late < LATE_MAX)
  })

  test('answers every query while each server is evicted', async () => {
    const { late } = await loseNothing(node, 'evictions', async () => {
      for (const pod of await podsOf(node, SERVERS)) {
        await evict(node, pod)
        await waitForRollout(node)
      }
      await waitForServers(node)
    })
    assert.ok(late < LATE_MAX)
  })

  test('answers every query after a server is killed, some at the second attempt', () =>
    loseNothing(node, 'crash', async () => {
      const [pod = ''] = await podsOf(node, SERVERS)
      await crash(node, pod)
      await waitForServers(node)
    }))

  test('answers every query during helm upgrade and rollback', async () => {
    const { late } = await loseNothing(node, 'upgrade and rollback', async () => {
      await helmChart(node, 'upgrade', '--set', 'server.resources.requests.memory=80Mi')
      await waitForRollout(node)
      await node.helm('rollback', 'kubedoh', '1', '--namespace', 'kube-system')
      await waitForServers(node)
    })
    assert.ok(late < LATE_MAX)
  })

  test('answers every query during a migration to CoreDNS and back', async () => {
    const back = await loseNothing(node, 'kubedoh to CoreDNS', async () => {
      await scaleCoreDns(node, 2)
      await node.helm('uninstall', 'kubedoh', '--namespace', 'kube-system')
      await waitForEnd(node, SERVERS)
    })
    const there = await loseNothing(node, 'CoreDNS to kubedoh', async () => {
      await helmChart(node, 'install')
      await waitForRollout(node)
      await narrowService(node, 'kubedoh')
      await setTimeout(CONNTRACK_MS)
      await scaleCoreDns(node, 0)
      await narrowService(node, undefined)
    })
    assert.ok(back.late < LATE_MAX && there.late < LATE_MAX)
  })
})

async function namesAndAddresses(node: KubernetesNode): Promise<Map<string, string>> {
  const [web = '', ...peers] = (
    await node.kubectl(
      ...['get', 'service/web', 'pod/db-0', 'pod/db-1', 'pod/db-2', '-o'],
      'jsonpath={range .items[*]}{.spec.clusterIP}{.status.podIP} {end}',
    )
  )
    .trim()
    .split(' ')
  const [first = ''] = peers
  const api = `kubernetes.default.svc.${NODE.domain}`
  return new Map([
    ['kubernetes', NODE.apiServer],
    ['kubernetes.default', NODE.apiServer],
    [`${api}.`, NODE.apiServer],
    ['kube-dns.kube-system', NODE.dns],
    ['web', web],
    ['db', peers.toSorted().join(',')],
    ...peers.map((address, i) => [`db-${i}.db`, address] as const),
    [`${first.replaceAll('.', '-')}.default.pod`, first],
    ['www.example.com', '192.0.2.80'],
    ['nothing', '-'],
    ['nothing.example.com', '-'],
    [NODE.apiServer, api],
    [first, `db-0.db.default.svc.${NODE.domain}`],
  ])
}
