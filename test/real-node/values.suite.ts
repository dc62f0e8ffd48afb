/**
 * Value files of the chart on a real Kubernetes node: the servers become Ready, and the Service
 * has the right answer.
 * @module
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { type Binaries, prepareBinaries } from '../real-cluster/binaries.ts'
import { helmChart, SYSTEM, startCluster } from './cluster.ts'
import type { KubernetesNode } from './node.ts'
import { probeMachine } from './packages.ts'

const VALUES = join(import.meta.dirname, '../chart/values')
const DEPLOYED = join(import.meta.dirname, '../../deploy/values')
/** Those that CI installs, and what it leaves to the dry runs of `npm run test:chart`. */
const SHORT = [
  join(DEPLOYED, 'kube-system.yaml'),
  join(DEPLOYED, 'own-service.yaml'),
  ...filesOf('hostnames services'),
]
const MORE = filesOf('autopath extra-rules no-limits one-replica own-address verified-pods')
const IS_SHORT = process.env.CI !== undefined

const missing = probeMachine()
const binaries: Binaries | string = missing ?? prepareBinaries('helm')

describeUnless(typeof binaries === 'string' && binaries, 'values on a real node', () => {
  let node: KubernetesNode
  beforeAll(async () => {
    assert.ok(typeof binaries !== 'string')
    node = await startCluster(binaries)
  })
  afterAll(() => node?.stop())

  if (IS_SHORT) console.log('left out: six value files; without CI the suite has them')
  for (const file of IS_SHORT ? SHORT : [...SHORT, ...MORE]) {
    test(`the servers of ${file.split('/').at(-1)} are Ready and answer`, async () => {
      await helmChart(node, 'install', '--values', file)
      try {
        const rollout = ['rollout', 'status', 'deployment/kubedoh-server', '--timeout=90s']
        await node.kubectl(...SYSTEM, ...rollout)
        await node.helm('test', 'kubedoh', ...SYSTEM, '--timeout=90s')
      } finally {
        await node.helm('uninstall', 'kubedoh', ...SYSTEM)
      }
    })
  }
})

function filesOf(names: string): string[] {
  return names.split(' ').map((name) => join(VALUES, `${name}.yaml`))
}
