import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseKubernetes } from '../../../src/corefile/kubernetes-options.ts'
import {
  MergedClusters,
  type ZoneConflicts,
} from '../../../src/gateway/snapshots/merged-clusters.ts'
import { block, directive, parseDirective } from '../../ask.ts'
import { type FakeClusterOptions, openFakeCluster } from '../../fake-cluster.ts'
import { NO_TIME } from '../../turns.ts'

const PORT = 'ports: [{ name: http, port: 80 }]'

function imported(name: string, spec: string): string {
  return `
- { kind: ServiceImport, metadata: { name: ${name}, namespace: shop }, spec: { ${spec} } }`
}

function slice(name: string, label: string, port: number): string {
  return `
- kind: EndpointSlice
  metadata: { name: ${name}-1, namespace: shop, labels: { ${label}: ${name} } }
  endpoints: [{ addresses: [198.51.100.1] }]
  ports: [{ name: http, port: ${port} }]`
}

function headless(name: string): string {
  const label = 'multicluster.kubernetes.io/service-name'
  return imported(name, 'type: Headless') + slice(name, label, 8080)
}

function exported(name: string, port: number): string {
  return `
- { kind: ServiceExport, metadata: { name: ${name}, namespace: shop } }
- { kind: Service, metadata: { name: ${name}, namespace: shop }, spec: { ${PORT} } }
${slice(name, 'kubernetes.io/service-name', port)}`
}

const NAMESPACE = '\n- { kind: Namespace, metadata: { name: shop } }'
const OBJECTS: Readonly<Record<string, string>> = {
  one: [
    NAMESPACE,
    headless('mixed'),
    imported('split', `ips: [192.0.2.1], ${PORT}`),
    imported('same', `ips: [192.0.2.2], ${PORT}`),
    exported('api', 8080),
    exported('split', 9999),
  ].join(''),
  two: [
    NAMESPACE,
    imported('mixed', `ips: [192.0.2.3], ${PORT}`),
    imported('split', `ips: [192.0.2.4], ports: [{ port: 81 }, { name: b, port: 443 }]`),
    imported('same', `ips: [192.0.2.5], ${PORT}`),
    exported('api', 9090),
  ].join(''),
}

type Fakes = Readonly<Record<string, Partial<FakeClusterOptions>>>

async function conflictsOf(fakes: Fakes = {}, ...more: readonly string[]): Promise<ZoneConflicts> {
  const text = directive('kubernetes clusterset.local', 'cluster one two', ...more)
  const options = parseKubernetes(parseDirective(text), [])
  const merged = new MergedClusters()
  for (const cluster of options.clusters) {
    for (const kind of ['multicluster', 'exports'] as const) {
      const own = { ...options, cluster }
      const fake = { objects: OBJECTS[cluster] ?? '', ...fakes[cluster], tree: { kind, cluster } }
      const reader = openFakeCluster(fake, own, [])
      merged.add(own, kind, reader)
      assert.ok(merged.has(reader))
    }
  }
  assert.equal(merged.size, 4)
  const [found, ...others] = await merged.conflicts(NO_TIME)
  assert.deepEqual(others, [])
  return found ?? assert.fail(block(text))
}

/** One line a conflict: `SERVICE CONFLICT: CLUSTER TYPE PORTS[!], … because REASON`. */
function linesOf({ conflicts }: ZoneConflicts): string[] {
  return conflicts.map(({ namespace, service, conflict, clusters, reason }) => {
    const words = clusters.map(
      ({ cluster, type, ports, wins }) => `${cluster} ${type} ${ports.join('+')}${wins ? '!' : ''}`,
    )
    return `${service}.${namespace} ${conflict}: ${words.join(', ')} because ${reason}`
  })
}

const [ADDRESS, ORDER, ALL, FRESH] = ['type', 'order', 'endpoints', 'fresh']

describe('where clusters contradict each other', () => {
  const everything = [
    `api.shop ports: one Headless 8080!, two Headless 9090! because ${ALL}`,
    `mixed.shop type: one Headless 8080, two ClusterSetIP 80! because ${ADDRESS}`,
    `split.shop ports: one ClusterSetIP 80!, two ClusterSetIP 81+443 because ${ORDER}`,
  ]

  test('reads ServiceImports, and exports that they do not name', async () => {
    const found = await conflictsOf()
    assert.deepEqual(linesOf(found).sort(), everything)
    assert.deepEqual(found.zones, ['clusterset.local.'])
    assert.equal(found.isWhole, true)
  })

  test('reads all shards, and loads those that are missing', async () => {
    const later = { presence: 'shards-later', shardCount: 4 } as const
    const found = await conflictsOf({ one: later, two: later })
    assert.deepEqual(linesOf(found).sort(), everything)
    assert.equal(found.isWhole, true)
  })

  test('queries fresh clusters only, where the directive does', async () => {
    const fakes: Fakes = { one: { freshness: 'stale' } }
    const found = await conflictsOf(fakes)
    assert.deepEqual(linesOf(found).sort(), [
      `api.shop ports: one Headless 8080, two Headless 9090! because ${FRESH}`,
      `mixed.shop type: one Headless 8080, two ClusterSetIP 80! because ${FRESH}`,
      `split.shop ports: one ClusterSetIP 80, two ClusterSetIP 81+443! because ${FRESH}`,
    ])
    assert.deepEqual(found.clusters, [
      { cluster: 'one', freshness: 'stale' },
      { cluster: 'two', freshness: 'fresh' },
    ])
    assert.deepEqual(linesOf(await conflictsOf(fakes, 'stale keep')).sort(), everything)
  })

  test('may be unknown', async () => {
    for (const lacking of [{ freshness: 'expired' }, { presence: 'never' }] as const) {
      const found = await conflictsOf({ two: lacking })
      assert.deepEqual([found.isWhole, found.conflicts], [false, []])
    }
    assert.equal((await conflictsOf({ two: { presence: 'shards-never' } })).isWhole, false)
  })
})
