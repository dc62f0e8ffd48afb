import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { AddressEntry, ZoneEntry } from '../../../src/records/zone-entry.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { PackedPointers } from '../../../src/snapshot/write/packed-pointers.ts'
import { WholeBuild } from '../../../src/snapshot/write/whole-build.ts'
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

describe('PackedPointers', () => {
  test('writes the shard that the same entries build', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(entry, { maxLength: 12 }), { maxLength: 4 }),
        fc.constantFrom(1, 4),
        (groups: readonly (readonly ZoneEntry[])[], count) => {
          const build = new WholeBuild()
          for (const group of groups) build.add(group)
          const shards = Array.from(
            build.shards(count, () => []),
            ({ bytes }) => bytes,
          )
          assert.deepEqual(shards, buildShards(groups.flat(), count))
        },
      ),
    )
  })

  test('grows, and deals each entry to its shard', () => {
    const pointers = new PackedPointers()
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
