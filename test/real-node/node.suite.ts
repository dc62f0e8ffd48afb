/**
 * Our image and our chart on a real Kubernetes node: pods resolve names with the resolvers of glibc
 * and musl.
 * @module
 */
import assert from 'node:assert/strict'
import { afterAll, beforeAll, test } from 'vitest'
import { type Binaries, prepareBinaries } from '../cluster/binaries.ts'
import { describeUnless } from '../describe-unless.ts'
import { CLIENT_PODS, helmChart, lookUp, startCluster, waitForDns } from './cluster.ts'
import type { KubernetesNode } from './node.ts'
import { probeMachine } from './packages.ts'
import { NODE } from './parts.ts'

/** An operator's patience; the start of a server takes some seconds. */
const INSTALLED_MS = 60_000

const missing = probeMachine()
const binaries: Binaries | string = missing ?? prepareBinaries()

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
