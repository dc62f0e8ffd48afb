import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { ClusterBuilder } from '../../../src/exporter/cluster-builder.ts'
import { addressUnit } from '../../../src/snapshot/format/shard-key.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { EarlyShards } from '../../../src/snapshot/write/early-shards.ts'
import type { EntriesPart } from '../../../src/snapshot/write/grouped-shards.ts'
import { clusterRecords } from '../../kubernetes/cluster-names.ts'
import { optionsOf } from '../../kubernetes/naming.ts'
import { clusterAfter, objects, options } from '../../kubernetes/random-cluster.ts'
import { existingName, labels, pointer, rrset } from '../entries.ts'

const WEB = [
  rrset('web.shop.svc 5 IN A 192.0.2.10', 'shop'),
  rrset('_http._tcp.web.shop.svc 5 IN SRV 0 100 80 web.shop.svc', 'shop'),
]
const POINTERS = [1, 2, 3].map((block) =>
  pointer([198, 51, block, 7], 'web.shop.svc', { namespace: 'shop' }),
)
const ENTRIES = {
  zone: ['', 'svc', 'shop.svc'].map((name) => existingName(name)),
  web: [...WEB, ...POINTERS],
  // More groups make more shards.
  ...Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`empty ${i}`, []])),
}

/** Early shards of ENTRIES, and the parts of `web` that they called for. */
function earlyShards(): { readonly early: EarlyShards; readonly parts: EntriesPart[] } {
  const parts: EntriesPart[] = []
  const entriesOf = (group: string, part?: EntriesPart) => {
    if (group === 'web' && part !== undefined) parts.push(part)
    return ENTRIES[group as keyof typeof ENTRIES] ?? []
  }
  const groups = Object.keys(ENTRIES).filter((group) => group !== 'zone')
  const placed = groups.map((group) => ({
    group,
    owner: group === 'web' ? labels('web.shop.svc') : undefined,
    addresses: group === 'web' ? POINTERS.map(({ address }) => address) : [],
  }))
  return { early: new EarlyShards({ everywhere: ['zone'], placed }, entriesOf), parts }
}

describe('EarlyShards', () => {
  test('has the bytes of shards that are built from all entries', () => {
    const { early } = earlyShards()
    assert.equal(early.count, 16)
    const whole = buildShards(Object.values(ENTRIES).flat(), early.count)
    assert.deepEqual(
      whole.map((_, i) => early.build(i)),
      whole,
    )
  })

  test('takes from a group what the shard needs', () => {
    const { early, parts } = earlyShards()
    for (let i = 0; i < early.count; i++) early.build(i)
    const needs = parts.map(({ hasNames, takesUnit }) => {
      const units = POINTERS.filter(({ address }) => takesUnit(addressUnit(address)))
      return Number(hasNames) + units.length
    })
    assert.equal(
      needs.reduce((sum, count) => sum + count, 0),
      1 + POINTERS.length,
    )
  })

  test('has the names and pointers of any cluster', () => {
    fc.assert(
      fc.property(objects, options, (some, naming) => {
        const builder = new ClusterBuilder(naming, () => undefined)
        const cluster = clusterAfter(some)
        for (const map of [cluster.namespaces, cluster.services, cluster.slices, cluster.pods]) {
          for (const object of map.values()) builder.set(object)
        }
        const early = builder.earlyShards()
        if (early === undefined) return
        const { entries } = clusterRecords(cluster, naming)
        const whole = buildShards(entries, early.count)
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
    assert.equal(early({ tree: { kind: 'multicluster' } }), undefined)
  })
})
