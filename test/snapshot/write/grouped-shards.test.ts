import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import type { ZoneEntry } from '../../../src/snapshot/records/zone-entry.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { countEntries } from '../../../src/snapshot/write/group-units.ts'
import { GroupedShards } from '../../../src/snapshot/write/grouped-shards.ts'
import { existingName, pointer, rrset } from '../entries.ts'

/** Groups in memory, and the shards that follow them. */
class Following {
  readonly groups = new Map<string, readonly ZoneEntry[]>()
  readonly asked: string[] = []
  readonly shards = new GroupedShards((group) => {
    this.asked.push(group)
    return this.groups.get(group) ?? []
  })

  set(group: string, entries: readonly ZoneEntry[]): void {
    this.groups.set(group, entries)
    this.shards.update([group])
  }

  /** The same entries, built at once. */
  whole(): Uint8Array[] {
    return buildShards([...this.groups.values()].flat(), this.shards.shards.length)
  }
}

/** What frames all groups: the names above them. */
const ZONE_NAMES = ['svc', 'shop.svc', 'depot.svc'].map((name) => existingName(name))

/** Some records and pointers of a Service. */
function service(name: string, size: number, namespace = 'shop'): ZoneEntry[] {
  const owner = `${name}.${namespace}.svc`
  return Array.from({ length: size }, (_, i) => [
    rrset(`e${i}.${owner} 5 IN A 198.18.${i >> 8}.${i & 255}`, namespace),
    rrset(`_p${i}._tcp.${owner} 5 IN SRV 0 100 80 e${i}.${owner}`, namespace),
    pointer([198, 18 + name.length, i & 7, i >> 3], `e${i}.${owner}`, { namespace }),
  ]).flat()
}

describe('GroupedShards', () => {
  test('has one empty shard at first', () => {
    const { shards } = new GroupedShards(() => [])
    assert.deepEqual(shards, buildShards([], 1))
  })

  test('is as if all had been built at once, after any changes', () => {
    const change = fc.record({
      group: fc.constantFrom('a', 'bb', 'ccc', 'dddd'),
      size: fc.oneof(fc.nat(3), fc.nat(800)),
      namespace: fc.constantFrom('shop', 'depot'),
    })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
        const following = new Following()
        following.set('frame', ZONE_NAMES)
        for (const { group, size, namespace } of changes) {
          following.set(group, service(group, size, namespace))
          assert.deepEqual(following.shards.shards, following.whole())
        }
      }),
      { numRuns: 25 },
    )
  })

  test('leaves shards as they are that say the same', () => {
    const following = new Following()
    following.set('frame', ZONE_NAMES)
    following.set('a', service('a', 2000))
    following.set('bb', service('bb', 3))
    const before = following.shards.shards
    assert.ok(before.length >= 8)
    following.set('bb', service('bb', 2))
    const after = following.shards.shards
    const changed = after.filter((shard, i) => shard !== before[i])
    assert.ok(changed.length >= 1 && changed.length <= 3, `${changed.length} changed`)
    following.set('bb', service('bb', 2))
    assert.equal(following.shards.shards, after)
  })

  test('asks for no groups but those that are in the changed shards', () => {
    const following = new Following()
    following.set('frame', ZONE_NAMES)
    for (let i = 0; i < 200; i++) following.groups.set(`group-${i}`, service(`g${i}`, 12))
    following.shards.update(following.groups.keys())
    following.asked.length = 0
    following.set('group-7', service('g7', 11))
    assert.ok(following.asked.length < 100, `${following.asked.length} of 200`)
  })

  test('leaves the list alone that it gave out', () => {
    const following = new Following()
    following.set('frame', ZONE_NAMES)
    following.set('a', service('a', 3))
    const before = following.shards.shards
    const copy = [...before]
    following.set('a', [])
    assert.deepEqual(before, copy)
  })

  test('counts the records that its shards have', () => {
    const following = new Following()
    const entries = service('a', 1000)
    following.set('frame', ZONE_NAMES)
    following.set('a', entries)
    assert.equal(following.shards.records, countEntries(entries))
    following.set('again', entries)
    assert.equal(following.shards.records, countEntries(entries))
    for (const shard of following.shards.shards) openShard(shard)
  })
})
