import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { defaultKubernetes } from '../../../src/corefile/kubernetes-options.ts'
import { nameOf } from '../../../src/dns/names/name.ts'
import {
  type HostZoneConflicts,
  hostConflicts,
} from '../../../src/gateway/snapshots/host-conflicts.ts'
import { parseK8sGateway } from '../../../src/resolver/plugins/k8s-gateway/options.ts'
import { directive, parseDirective } from '../../ask.ts'
import { type FakeClusterOptions, openFakeCluster } from '../../fake-cluster.ts'
import { NO_TIME } from '../../turns.ts'

const EXPORTER = directive('k8s_gateway a.test b.test', 'resources Ingress Service', 'annotations')

/** An object that claims a hostname. */
function claim(kind: string, namespace: string, host: string, createdSeconds: number): string {
  return `
- kind: ${kind}
  metadata:
    name: n${host.length}
    namespace: ${namespace}
    creationTimestamp: '2026-01-01T00:00:0${createdSeconds}Z'
    annotations: { external-dns.alpha.kubernetes.io/hostname: '${host}' }
  spec: { type: LoadBalancer, rules: [{ host: '${host}' }] }
  status: { loadBalancer: { ingress: [{ ip: 203.0.113.${createdSeconds} }] } }`
}

function twice(host: string): string {
  return claim('Ingress', 'x', host, 2) + claim('Ingress', 'y', host, 1)
}

/** Lists the conflicts within `zone`. */
function conflictsOf(
  fake: Partial<FakeClusterOptions>,
  zone = 'a.test',
): Promise<HostZoneConflicts> {
  const read = parseDirective(EXPORTER)
  const { tree, zones } = parseK8sGateway(read, [])
  const options = { objects: '', tree, shardCount: 4, ...fake }
  const reader = openFakeCluster(options, defaultKubernetes(read, zones), [])
  return hostConflicts({ zones: [nameOf(zone)], cluster: 'shop', reader }, NO_TIME)
}

/** One line a hostname: `HOST NAMESPACE: OBJECTS[!]; … (REASON)`, `!` for the one that wins. */
function linesOf({ conflicts }: HostZoneConflicts): string[] {
  return conflicts.map(({ host, claims, reason }) => {
    const words = claims.map(({ namespace, objects, wins }) => {
      return `${namespace}: ${objects.join(' ')}${wins ? '!' : ''}`
    })
    return `${host} ${words.join('; ')} (${reason})`
  })
}

describe('hostnames that several namespaces claim', () => {
  const long = `${'l'.repeat(63)}.${'m'.repeat(60)}.a.test`
  const cases: { name: string; objects: string; lines: readonly string[]; zone?: string }[] = [
    { name: 'one owner', objects: claim('Ingress', 'x', 'www.a.test', 1), lines: [] },
    {
      name: 'the older object wins',
      objects: twice('www.a.test'),
      lines: ['www.a.test. y: Ingress y/n10!; x: Ingress x/n10 (age)'],
    },
    {
      name: 'the first kind wins, although its object is younger',
      objects: claim('Service', 'x', 'www.a.test', 1) + claim('Ingress', 'y', 'www.a.test', 2),
      lines: ['www.a.test. y: Ingress y/n10!; x: Service x/n10 (kind)'],
    },
    {
      name: 'objects of one namespace are one claim',
      objects: `${twice('www.a.test')}${claim('Service', 'x', 'www.a.test', 1)}`,
      lines: ['www.a.test. y: Ingress y/n10!; x: Ingress x/n10 Service x/n10 (age)'],
    },
    {
      name: 'several names, sorted, with a wildcard and one longer than a label',
      objects: twice('www.a.test') + twice(long) + twice('*.a.test'),
      lines: [
        '*.a.test. y: Ingress y/n8!; x: Ingress x/n8 (age)',
        `${long}. y: Ingress y/n${long.length}!; x: Ingress x/n${long.length} (age)`,
        'www.a.test. y: Ingress y/n10!; x: Ingress x/n10 (age)',
      ],
    },
    { name: 'of another zone', objects: twice('www.b.test'), zone: 'c.test', lines: [] },
  ]
  for (const { name, objects, lines, zone } of cases) {
    test(name, async () => {
      const found = await conflictsOf({ objects }, zone)
      assert.deepEqual([linesOf(found), found.isWhole], [lines, true])
    })
  }

  test('at most 1,000 are listed, and the list is then incomplete', async () => {
    const hosts = Array.from({ length: 1001 }, (_, i) => `h${i}`)
    const rules = hosts.map((host) => `{ host: ${host} }`).join(', ')
    const objects = ['x', 'y'].map((namespace) =>
      claim('Ingress', namespace, 'z', 1).replace(/rules: .*\]/, `rules: [${rules}]`),
    )
    const found = await conflictsOf({ objects: objects.join('') })
    assert.deepEqual([found.conflicts.length, found.isWhole], [1000, false])
  })

  const states: { fake: Partial<FakeClusterOptions>; count: number; isWhole: boolean }[] = [
    { fake: { presence: 'shards-later' }, count: 1, isWhole: true },
    { fake: { freshness: 'stale' }, count: 1, isWhole: true },
    { fake: { freshness: 'expired' }, count: 0, isWhole: false },
    { fake: { presence: 'never' }, count: 0, isWhole: false },
    { fake: { presence: 'shards-never' }, count: 0, isWhole: false },
  ]
  for (const { fake, count, isWhole } of states) {
    test(`of a snapshot that is ${Object.values(fake).join(' ')}`, async () => {
      const found = await conflictsOf({ objects: twice('www.a.test'), ...fake })
      assert.deepEqual([found.conflicts.length, found.isWhole], [count, isWhole])
      assert.equal(found.freshness, fake.freshness ?? 'fresh')
    })
  }
})
