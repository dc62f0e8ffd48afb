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
const FILES = [
  join(DEPLOYED, 'kube-system.yaml'),
  join(DEPLOYED, 'own-service.yaml'),
  ...'autopath extra-rules hostnames no-limits one-replica own-address services verified-pods'
    .split(' ')
    .map((name) => join(VALUES, `${name}.yaml`)),
]

const missing = probeMachine()
const binaries: Binaries | string = missing ?? prepareBinaries('helm')

describeUnless(typeof binaries === 'string' && binaries, 'values on a real node', () => {
  let node: KubernetesNode
  beforeAll(async () => {
    assert.ok(typeof binaries !== 'string')
    node = await startCluster(binaries)
  })
  afterAll(() => node?.stop())

  for (const file of FILES) {
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
