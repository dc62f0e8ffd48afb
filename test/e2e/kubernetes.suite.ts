/**
 * Kubernetes' own end-to-end tests of DNS, Services, EndpointSlices and host aliases, on a real
 * node whose DNS is the server of the chart; then again with the node cache. `npm run
 * test:conformance`.
 * @module
 */
import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { type Binaries, prepareBinaries } from '../real-cluster/binaries.ts'
import { builtImage } from '../real-node/built-images.ts'
import {
  CHART,
  queriesOfCache,
  SYSTEM,
  startCluster,
  waitForDns,
  writeSlowTurnValues,
} from '../real-node/cluster.ts'
import type { KubernetesNode } from '../real-node/node.ts'
import { probeMachine } from '../real-node/packages.ts'
import { IS_IPV6_ONLY, NODE } from '../real-node/parts.ts'
import { prepareE2eImage } from './images.ts'
import { LEFT_OUT, LEFT_OUT_WITH_CACHE } from './left-out.ts'
import { type E2ePrograms, prepareE2ePrograms } from './programs.ts'
import { listSpecs, runSpec, type Spec } from './specs.ts'

const DNS = '\\[sig-network\\] DNS '
const OTHERS = '\\[sig-network\\] (Services|EndpointSlice)|hostAliases'
/** `KUBEDOH_CONFORMANCE=dns` runs the tests of DNS only: three minutes of twenty. */
const IS_SHORT = process.env.KUBEDOH_CONFORMANCE === 'dns'
/**
 * The release of the chart. Tests that change the servers' Corefile look for `coredns` in the names
 * of pods, and then write the ConfigMap `coredns`.
 */
const RELEASE = 'coredns'
const CACHE = `nodeCache.enabled=true,nodeCache.addresses={169.254.20.10,${NODE.dns}}`

const missing = probeMachine()
const binaries: Binaries | string = missing ?? prepareBinaries('helm')
const programs = typeof binaries === 'string' ? undefined : prepareE2ePrograms()

describeUnless(typeof binaries === 'string' && binaries, "Kubernetes' tests", () => {
  let node: KubernetesNode
  let kubectl: string
  beforeAll(async () => {
    assert.ok(typeof binaries !== 'string' && programs !== undefined)
    const images = [await builtImage(), await builtImage('node')]
    node = await startCluster(binaries, ...images)
    await importE2eImage(node, programs)
    kubectl = join(node.folder, 'kubectl')
    writeFileSync(kubectl, `#!/bin/sh\nexec ${binaries.kubernetes} kubectl "$@"\n`)
    chmodSync(kubectl, 0o755)
    const values = ['--values', writeSlowTurnValues(node)]
    await node.helm('install', RELEASE, CHART, ...SYSTEM, ...values)
    await mountSharedCorefile(node)
    await waitForDns(node)
  })
  afterAll(() => node?.stop())

  const run = async (spec: Spec): Promise<void> => {
    assert.ok(programs !== undefined)
    const { state, reason } = await runSpec(node, spec, { tests: programs.tests, kubectl })
    assert.equal(state, 'passed', reason)
  }
  const { all, wanted } = specsOf(programs)

  describe('with the server of the chart', () => {
    testAll(wanted, LEFT_OUT, run)
  })

  if (IS_SHORT && IS_IPV6_ONLY) {
    console.log('left out: the node cache with IPv6 alone; npm run test:conformance runs it')
    return
  }
  describe('with the node cache', () => {
    beforeAll(async () => {
      await node.helm('upgrade', RELEASE, CHART, ...SYSTEM, '--reuse-values', '--set', CACHE)
      const set = `daemonset/${RELEASE}-node-cache`
      await node.kubectl(...SYSTEM, 'rollout', 'status', set, '--timeout=180s')
      await mountSharedCorefile(node)
    })

    testAll(wanted, { ...LEFT_OUT, ...LEFT_OUT_WITH_CACHE }, run)

    test('each reason to leave out a test has one', () => {
      const reasons = Object.keys({ ...LEFT_OUT, ...LEFT_OUT_WITH_CACHE })
      const unused = reasons.filter((part) => !all.some(({ name }) => name.includes(part)))
      assert.deepEqual(unused, [])
    })

    test('pods query the cache', async () => {
      const queries = await queriesOfCache(node)
      console.log(`the cache answered ${queries} queries`)
      assert.ok(queries > 1000)
    })
  })
})

/** Returns all tests and those of this run, and prints which it leaves out for their time. */
function specsOf(built: E2ePrograms | undefined): {
  readonly all: readonly Spec[]
  readonly wanted: readonly Spec[]
} {
  if (built === undefined) return { all: [], wanted: [] }
  const [dns, others] = [listSpecs(built.tests, DNS), listSpecs(built.tests, OTHERS)]
  const all = [...dns, ...others]
  if (!IS_SHORT) return { all, wanted: all }
  console.log(
    `left out: ${others.length} tests of Services, EndpointSlices and host aliases, with each DNS ` +
      'server: they take a quarter of an hour; npm run test:conformance runs them',
  )
  return { all, wanted: dns }
}

/** Declares a test for each of Kubernetes', but for those that are left out. */
function testAll(
  specs: readonly Spec[],
  leftOut: Readonly<Record<string, string>>,
  run: (spec: Spec) => Promise<void>,
): void {
  const reasons = Object.entries(leftOut)
  const reasonOf = ({ name }: Spec) => reasons.find(([part]) => name.includes(part))
  for (const spec of specs) {
    const [, reason] = reasonOf(spec) ?? []
    if (reason !== undefined) console.log(`left out: ${spec.name}: ${reason}`)
  }
  const wanted = specs.filter((spec) => reasonOf(spec) === undefined)
  for (const spec of wanted.filter(({ isSerial }) => !isSerial)) {
    test.concurrent(spec.name, () => run(spec))
  }
  for (const spec of wanted.filter(({ isSerial }) => isSerial)) test(spec.name, () => run(spec))
}

async function importE2eImage(node: KubernetesNode, built: E2ePrograms): Promise<void> {
  const { archive, names } = prepareE2eImage(built)
  const [first = '', ...others] = names
  await node.importImage(archive)
  for (const name of others) await node.tagImage(first, name)
}

/** Has the servers read the ConfigMap `coredns`, as CoreDNS does; Helm undoes it in an upgrade. */
async function mountSharedCorefile(node: KubernetesNode): Promise<void> {
  const volumes = [{ name: 'corefile', configMap: { name: 'coredns' } }]
  const patch = JSON.stringify({ spec: { template: { spec: { volumes } } } })
  const deployment = `deployment/${RELEASE}-server`
  await node.kubectl(...SYSTEM, 'patch', deployment, '--patch', patch)
  await node.kubectl(...SYSTEM, 'rollout', 'status', deployment, '--timeout=120s')
}
