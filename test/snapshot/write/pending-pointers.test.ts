import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { AddressEntry, ZoneEntry } from '../../../src/records/zone-entry.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { NamespaceTable } from '../../../src/snapshot/write/namespace-table.ts'
import { PendingPointers } from '../../../src/snapshot/write/pending-pointers.ts'
import { UnitBlocks } from '../../../src/snapshot/write/unit-blocks.ts'
import { labels } from '../entries.ts'

/** Few addresses of both sizes, so that many are the same. */
const address = fc
  .record({ isLong: fc.boolean(), first: fc.constantFrom(10, 200), last: fc.nat(3) })
  .map(({ isLong, first, last }) => {
    const octets = new Uint8Array(isLong ? 16 : 4)
    octets[0] = first
    octets[octets.length - 1] = last
    return octets
  })
const namespace = fc.constantFrom('shop', 'blog', '')
const target = fc.constantFrom('a.web.shop.svc', 'b.web.shop.svc', 'web.blog.svc').map(labels)
const ttlSeconds = fc.constantFrom(5, 30, 0x1000000)
const entry: fc.Arbitrary<AddressEntry> = fc.oneof(
  fc.record({ kind: fc.constant('pointer'), address, namespace, ttlSeconds, target }),
  fc.record({
    kind: fc.constant('pointer'),
    address,
    namespace,
    ttlSeconds,
    target,
    isYielding: fc.constant(true),
  }),
  fc.record({ kind: fc.constant('pod-address'), address, namespace }),
)

describe('PendingPointers', () => {
  test('writes what a shard of the same entries has', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(entry, { maxLength: 12 }), { maxLength: 4 }),
        fc.constantFrom(1, 4),
        (groups: readonly (readonly ZoneEntry[])[], count) => {
          const blocks = new UnitBlocks()
          for (const group of groups) blocks.add(group)
          const shards = Array.from(
            blocks.shards(count, () => []),
            ({ bytes }) => bytes,
          )
          assert.deepEqual(shards, buildShards(groups.flat(), count))
        },
      ),
    )
  })

  test('deals more entries than it has room for at first, each to its shard', () => {
    const pointers = new PendingPointers(new NamespaceTable())
    for (let i = 0; i < 5000; i++) {
      const octets = Uint8Array.of(10, i >> 16, i >> 8, i)
      pointers.add({ kind: 'pod-address', address: octets, namespace: 'shop' })
    }
    const lots = pointers.deal(8)
    assert.equal(lots.length, 8)
    const all = lots.flatMap((lot) => [...lot]).sort((a, b) => a - b)
    assert.deepEqual(
      all,
      Array.from({ length: 5000 }, (_, i) => i),
    )
  })
})
