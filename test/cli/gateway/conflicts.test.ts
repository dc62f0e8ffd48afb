import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'vitest'
import { createClusterKeys } from '../../../src/exporter/cluster-keys.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'
import { ADMIN, startOperatedGateway } from '../operated-gateway.ts'
import { type Ran, runCli } from '../run-cli.ts'

const EXPORTED = 'kubernetes cluster.local set.test {\n    multicluster set.test\n  }'

function objectsOf(port: number): string {
  return `
- { apiVersion: v1, kind: Namespace, metadata: { name: shop } }
- apiVersion: multicluster.x-k8s.io/v1alpha1
  kind: ServiceImport
  metadata: { name: web, namespace: shop }
  spec: { type: ClusterSetIP, ips: [192.0.2.1], ports: [{ name: http, port: ${port} }] }`
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
}

type Run = (words: readonly string[], token?: string) => Promise<Ran>

/** What the clusters publish: ports of a Service, and hostnames by other objects. */
type Published = { readonly ports: Readonly<Record<string, number>>; readonly hosts?: string }

/** Starts a gateway to which two clusters publish, or one of a single cluster. */
async function start(t: TestContext, { ports, hosts = '' }: Published): Promise<Run> {
  const keys = new Map<string, Awaited<ReturnType<typeof createClusterKeys>>>()
  for (const id of ['east', 'west']) keys.set(id, await createClusterKeys())
  const named = Object.keys(ports).join(' ') || 'east'
  const port = await startOperatedGateway(t, {
    COREFILE: `set.test {\n  ${hosts === '' ? 'kubernetes' : 'k8s_gateway'} {\n    cluster ${named}\n  }\n}\n`,
    CLUSTERS: JSON.stringify(Object.fromEntries(keys)),
  })
  const url = `http://127.0.0.1:${port}`
  const folder = temporaryFolder(t)
  const corefile = join(folder, 'Corefile')
  writeFileSync(corefile, `. {\n  ${EXPORTED}\n  k8s_gateway set.test\n}\n`)
  for (const [id, port] of Object.entries(ports)) {
    const { token = '', signingKey = '' } = keys.get(id) ?? {}
    const path = join(folder, `${id}.yaml`)
    writeFileSync(path, `apiVersion: v1\nkind: List\nitems:\n${objectsOf(port)}${hosts}\n`)
    const args = ['export', '--gateway', url, '--cluster', id, '--once', '--objects', path]
    const environment = { KUBEDOH_TOKEN: token, KUBEDOH_SIGNING_KEY: signingKey }
    const { status, stderr } = await runCli([...args, '--conf', corefile], environment)
    assert.equal(status, 0, stderr)
  }
  return (words, token = ADMIN) =>
    runCli(['conflicts', '--gateway', url, ...words], { KUBEDOH_ADMIN_TOKEN: token })
}

describe('conflicts', () => {
  test('are printed with the winning cluster and the reason', async (t) => {
    const run = await start(t, { ports: { east: 80, west: 81 } })
    const { stdout, status } = await run([])
    const [head, names = '', first = '', second = '', ...rest] = stdout.split('\n')
    assert.deepEqual([status, head, rest], [0, 'set.test.: east, west', ['']])
    assert.match(names, /^SERVICE +CONFLICT +CLUSTER +TYPE +PORTS +WHY$/)
    assert.match(first, /^web\.shop +ports +east +ClusterSetIP +80 +answers +the first cluster/)
    assert.match(second, /^ +west +ClusterSetIP +81$/)
    const { groups } = JSON.parse((await run(['--json'])).stdout)
    assert.deepEqual(groups[0].conflicts[0].clusters[0], {
      cluster: 'east',
      type: 'ClusterSetIP',
      ports: [80],
      wins: true,
    })
  })

  test('are none where clusters agree', async (t) => {
    const run = await start(t, { ports: { east: 80, west: 80 } })
    assert.equal((await run([])).stdout, 'set.test.: east, west\nno conflicts\n')
  })

  test('of hostnames are printed with their owners', async (t) => {
    const hosts = ['a', 'b']
      .map(
        (namespace) => `
  - apiVersion: networking.k8s.io/v1
    kind: Ingress
    metadata: { name: web, namespace: ${namespace} }
    spec: { rules: [{ host: www.set.test }] }
    status: { loadBalancer: { ingress: [{ ip: 203.0.113.1 }] } }`,
      )
      .join('')
    const run = await start(t, { ports: { east: 80 }, hosts })
    const { stdout, status } = await run([])
    const [head, names = '', first = '', second = '', ...rest] = stdout.split('\n')
    assert.deepEqual([status, head, rest], [0, 'set.test.: east', ['']])
    assert.match(names, /^HOST +NAMESPACE +OBJECTS +WHY$/)
    assert.match(first, /^www\.set\.test\. +a +Ingress a\/web +answers +the oldest object wins$/)
    assert.match(second, /^ +b +Ingress b\/web$/)
  })

  test('need the operator token', async (t) => {
    const run = await start(t, { ports: { east: 80, west: 81 } })
    const { status, stdout, stderr } = await run([], 'another')
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(stderr, /The operator's token is needed/)
  })

  test('do not exist if no clusters share a zone', async (t) => {
    const run = await start(t, { ports: {} })
    assert.equal((await run([])).stdout, 'no clusters share a zone\n')
  })
})
