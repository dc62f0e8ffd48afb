import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { ZoneEntry } from '../../../src/snapshot/records/zone-entry.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { unitOf } from '../../../src/snapshot/write/group-units.ts'
import { WholeBuild } from '../../../src/snapshot/write/whole-build.ts'
import { existingName, pointer, rrset } from '../entries.ts'

const ZONE_NAMES = ['svc', 'shop.svc', 'blog.svc'].map((name) => existingName(name))

/** Entries of a Service: more than a buffer's nodes from a size of about 700 on. */
function service(name: string, size: number, namespace: string): ZoneEntry[] {
  const owner = `${name}.${namespace}.svc`
  return Array.from({ length: size }, (_, i) => [
    rrset(`e${i}.${owner} 5 IN A 198.18.${i >> 8}.${i & 255}`, namespace),
    rrset(`_p${i}._tcp.${owner} 5 IN SRV 0 100 80 e${i}.${owner}`, namespace),
    pointer([198, 18 + name.length, i & 7, i >> 3], `e${i}.${owner}`, { namespace }),
  ]).flat()
}

function shardsOf(groups: readonly (readonly ZoneEntry[])[], count: number): Uint8Array[] {
  const build = new WholeBuild()
  for (const group of groups) build.add(group)
  const entriesIn = (units: ReadonlySet<number>): ZoneEntry[] =>
    groups.flat().filter((entry) => units.has(unitOf(entry)))
  return Array.from(build.shards(count, entriesIn), ({ bytes }) => bytes)
}

describe('WholeBuild', () => {
  const group = fc.record({
    name: fc.constantFrom('a', 'bb', 'ccc'),
    size: fc.oneof(fc.nat(5), fc.constant(1100)),
    namespace: fc.constantFrom('shop', 'blog'),
  })

  test('builds the same shards as all entries at once, also with units of several groups', () => {
    fc.assert(
      fc.property(
        fc.array(group, { maxLength: 6 }),
        fc.constantFrom(1, 2, 8),
        (services, count) => {
          const groups = [ZONE_NAMES, ...services.map((s) => service(s.name, s.size, s.namespace))]
          assert.deepEqual(shardsOf(groups, count), buildShards(groups.flat(), count))
        },
      ),
      { numRuns: 30 },
    )
  })

  test('needs the entries of units with several groups again, and no others', () => {
    const build = new WholeBuild()
    const [one, other] = [service('a', 1100, 'shop'), service('bb', 1100, 'shop')]
    for (const entries of [one, other, service('a', 1, 'shop')]) build.add(entries)
    let needed: readonly number[] = []
    const shards = build.shards(1, (units) => {
      needed = [...units]
      return one
    })
    assert.equal([...shards].length, 1)
    assert.deepEqual(needed, [unitOf(existingName('a.shop.svc'))])
  })
})
