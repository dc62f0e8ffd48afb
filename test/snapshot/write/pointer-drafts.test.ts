import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatAddress } from '../../../src/dns/names/address.ts'
import type {
  AddressEntry,
  PodAddress,
  Pointer,
  ZoneEntry,
} from '../../../src/snapshot/records/zone-entry.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { draftPointers, PackedPointers } from '../../../src/snapshot/write/pointer-drafts.ts'
import { WholeBuild } from '../../../src/snapshot/write/whole-build.ts'
import { labels, pointer } from '../entries.ts'

const yielding = (entry: Pointer): Pointer => ({ ...entry, isYielding: true })
const pod = (last: number, namespace: string): PodAddress => {
  return { kind: 'pod-address', address: Uint8Array.of(192, 0, 2, last), namespace }
}

function drafted(...entries: (Pointer | PodAddress)[]): string[] {
  return draftPointers(entries).map(({ address, namespace, set, isPod, isYielding }) => {
    const targets = set?.rdata.map(({ target = new Uint8Array(0) }) =>
      String.fromCharCode(...target.slice(1)),
    )
    return `${formatAddress(address)} ${namespace} ${targets?.join() ?? '-'}${isPod ? ' pod' : ''}${isYielding ? ' yielding' : ''}`
  })
}

describe('draftPointers', () => {
  const shop = { namespace: 'shop' }
  const cases: readonly { name: string; entries: (Pointer | PodAddress)[]; drafts: string[] }[] = [
    {
      name: 'sorts by address and namespace',
      entries: [
        pointer([192, 0, 2, 2], 'c'),
        pointer([192, 0, 2, 1], 'b', shop),
        pointer([192, 0, 2, 1], 'a', { namespace: 'blog' }),
      ],
      drafts: ['192.0.2.1 blog a', '192.0.2.1 shop b', '192.0.2.2  c'],
    },
    {
      name: 'joins the names of an address in order',
      entries: [pointer([192, 0, 2, 1], 'b', shop), pointer([192, 0, 2, 1], 'a', shop)],
      drafts: ['192.0.2.1 shop a,b'],
    },
    {
      name: 'lets those that yield be when exist no others',
      entries: [yielding(pointer([192, 0, 2, 1], 'a', shop)), pod(1, 'shop')],
      drafts: ['192.0.2.1 shop a pod'],
    },
    {
      name: 'marks those that yield to one of another namespace, and leaves out those of the same',
      entries: [
        yielding(pointer([192, 0, 2, 1], 'a', shop)),
        pod(1, 'shop'),
        pointer([192, 0, 2, 1], 'b', { namespace: 'blog' }),
        yielding(pointer([192, 0, 2, 1], 'd', { namespace: 'blog' })),
        yielding(pointer([192, 0, 2, 2], 'c', shop)),
      ],
      drafts: ['192.0.2.1 blog b', '192.0.2.1 shop a pod yielding', '192.0.2.2 shop c'],
    },
  ]
  for (const { name, entries, drafts } of cases) {
    test(name, () => {
      assert.deepEqual(drafted(...entries), drafts)
      assert.deepEqual(drafted(...entries.toReversed()), drafts)
    })
  }
})

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
