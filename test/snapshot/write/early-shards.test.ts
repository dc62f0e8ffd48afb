import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { ClusterBuilder } from '../../../src/cluster/follow/cluster-builder.ts'
import { isByAddress, type ZoneEntry } from '../../../src/snapshot/records/zone-entry.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { EarlyShards } from '../../../src/snapshot/write/early-shards.ts'
import { clusterRecords } from '../../cluster/cluster-names.ts'
import { optionsOf } from '../../cluster/naming.ts'
import { clusterAfter, objects, options } from '../../cluster/random-cluster.ts'
import { existingName, labels, pointer, rrset } from '../entries.ts'

const WEB = [
  rrset('web.shop.svc 5 IN A 192.0.2.10', 'shop'),
  rrset('_http._tcp.web.shop.svc 5 IN SRV 0 100 80 web.shop.svc', 'shop'),
]
const POINTER = pointer([198, 51, 100, 7], 'web.shop.svc', { namespace: 'shop' })
const ENTRIES: Readonly<Record<string, readonly ZoneEntry[]>> = {
  zone: ['', 'svc', 'shop.svc'].map((name) => existingName(name)),
  web: [...WEB, POINTER],
  // More groups make more shards.
  ...Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`empty-${i}`, []])),
}

/** Early shards of ENTRIES, and the groups that they called for. */
function earlyShards(): { readonly early: EarlyShards; readonly called: string[] } {
  const called: string[] = []
  const entriesOf = (group: string): readonly ZoneEntry[] => {
    called.push(group)
    return ENTRIES[group] ?? []
  }
  const groups = Object.keys(ENTRIES).filter((group) => group !== 'zone')
  const placed = groups.map((group) => ({ group, owner: labels(`${group}.shop.svc`) }))
  return { early: new EarlyShards({ everywhere: ['zone'], placed }, entriesOf), called }
}

function namesOnly(entries: readonly ZoneEntry[]): ZoneEntry[] {
  return entries.filter((entry) => !isByAddress(entry))
}

describe('EarlyShards', () => {
  test('has the bytes of shards that are built from all names', () => {
    const { early } = earlyShards()
    assert.equal(early.count, 16)
    const whole = buildShards(namesOnly(Object.values(ENTRIES).flat()), early.count)
    assert.deepEqual(
      whole.map((_, i) => early.build(i)),
      whole,
    )
  })

  test('builds each group once', () => {
    const { early, called } = earlyShards()
    assert.deepEqual(called, ['zone'])
    for (let i = 0; i < early.count; i++) early.build(i)
    assert.deepEqual(called.sort(), Object.keys(ENTRIES).sort())
  })

  test('has the names of any cluster', () => {
    fc.assert(
      fc.property(objects, options, (some, naming) => {
        const builder = new ClusterBuilder(naming, () => undefined)
        const cluster = clusterAfter(some)
        const { namespaces, services, slices, pods, imports } = cluster
        for (const map of [namespaces, services, slices, pods, imports]) {
          for (const object of map.values()) builder.set(object)
        }
        const early = builder.earlyShards()
        if (early === undefined) return
        const { entries } = clusterRecords(cluster, naming)
        const whole = buildShards(namesOnly(entries), early.count)
        for (const [i, bytes] of whole.entries()) assert.deepEqual(early.build(i), bytes)
      }),
    )
  })

  test('is for Services of the DNS specification, without verified Pods', () => {
    const early = (naming: Parameters<typeof optionsOf>[0]) =>
      new ClusterBuilder(optionsOf(naming), () => undefined).earlyShards()
    assert.ok(early({ pods: 'insecure' }) !== undefined)
    assert.equal(early({ pods: 'verified' }), undefined)
    assert.equal(early({ scheme: 'openshift3' }), undefined)
    assert.equal(
      early({ tree: { kind: 'external', ttlSeconds: 5, hasEndpoints: false } }),
      undefined,
    )
  })
})
