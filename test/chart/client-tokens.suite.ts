/**
 * What `exporter.clientTokens` adds to the chart: a variable, and rights of the exporter.
 * @module
 */
import assert from 'node:assert/strict'
import { test } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { prepareBinaries } from '../real-cluster/binaries.ts'
import { objectsWith } from './helm.ts'

const binaries = prepareBinaries()
const EXPORTER = ['server.enabled=false', 'exporter.enabled=true', 'exporter.cluster=a']
const OFF = [...EXPORTER, 'exporter.gateway=https://gateway.test']
const ON = [...OFF, 'exporter.clientTokens.enabled=true']
const NAMESPACES = 'exporter.clientTokens.secretNamespaces'
const TOKENS = ['ClusterRole * clienttokens list,watch', 'ClusterRole * clienttokens/status update']

/** Returns the rights on ClientTokens and Secrets: `KIND NAMESPACE RESOURCE VERBS`. */
function rights(values: readonly string[]): readonly string[] {
  return objectsWith(...values).flatMap(({ kind, metadata, rules }) => {
    const all: { resources: string[]; verbs: string[] }[] = Array.isArray(rules) ? rules : []
    return all
      .filter(({ resources }) => /^(secrets|clienttokens)/.test(String(resources)))
      .map(({ resources, verbs }) => `${kind} ${metadata.namespace ?? '*'} ${resources} ${verbs}`)
  })
}

/** Returns the exporter's Deployment. */
function deploymentOf(values: readonly string[]): string {
  const deployment = objectsWith(...values).find(({ kind }) => kind === 'Deployment')
  return JSON.stringify(deployment)
}

describeUnless(typeof binaries === 'string' ? binaries : false, 'exporter.clientTokens', () => {
  test('is off by default: without a right or a variable', () => {
    assert.deepEqual(rights(OFF), [])
    assert.ok(!deploymentOf(OFF).includes('KUBEDOH_CLIENT_TOKENS'))
  })

  test('adds the variable, and the right to get Secrets of the release only', () => {
    assert.deepEqual(rights(ON), [...TOKENS, 'Role kube-system secrets get'])
    assert.ok(deploymentOf(ON).includes('{"name":"KUBEDOH_CLIENT_TOKENS","value":"kube-system"}'))
  })

  test('gives the right to get Secrets of some namespaces, or of all', () => {
    const some = ['Role kube-system', 'Role shop', 'Role web'].map((one) => `${one} secrets get`)
    assert.deepEqual(rights([...ON, `${NAMESPACES}={shop,web,shop}`]), [...TOKENS, ...some])
    const all = [...TOKENS, 'ClusterRole * secrets get']
    assert.deepEqual(rights([...ON, `${NAMESPACES}={*}`]), all)
  })
})
