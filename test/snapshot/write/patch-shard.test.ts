import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { ZoneEntry } from '../../../src/records/zone-entry.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { ancestorsOf, buildShard } from '../../../src/snapshot/write/build-shards.ts'
import { unitOf } from '../../../src/snapshot/write/group-units.ts'
import { patchShard } from '../../../src/snapshot/write/patch-shard.ts'
import { existingName, pointer, recordSet } from '../entries.ts'

/** What one Service says in this test, by its size; its names end in its own three labels. */
function service(name: string, size: number, namespace: string): ZoneEntry[] {
  const owner = `${name}.${namespace}.svc`
  const targets = Array.from({ length: size }, (_, i) => `e${i}.${owner}`)
  if (size === 0) return []
  const srv = targets.map((target) => `_http._tcp.${owner} 5 IN SRV 0 1 80 ${target}`)
  return [
    recordSet(`${owner} 5 IN A 198.18.0.1`, namespace),
    recordSet(srv.join('\n'), namespace),
    ...targets.map((target, i) => recordSet(`${target} 5 IN A 198.18.1.${i}`, namespace)),
    ...targets.map((target, i) => pointer([198, 18, name.length, i], target, { namespace })),
    ...targets.map((target, i) => {
      return pointer([...Array<number>(15).fill(name.length), i], target, { namespace })
    }),
  ]
}

/** Entries and the names above them. */
function whole(entries: readonly ZoneEntry[]): ZoneEntry[] {
  return [...entries, ...ancestorsOf(entries)]
}

const ZONE_NAMES = ['svc', 'shop.svc', 'blog.svc', 'zoo.svc'].map((name) => existingName(name))

/** Replaces what one Service says, in the shard of all. */
function patched(before: readonly ZoneEntry[], after: readonly ZoneEntry[], others: ZoneEntry[]) {
  const units = new Set([...before, ...after].map(unitOf))
  const fresh = [...others, ...after].filter((entry) => units.has(unitOf(entry)))
  const above = ancestorsOf(fresh).filter((entry) => units.has(unitOf(entry)))
  const shard = buildShard(whole([...others, ...before]))
  return patchShard(shard, units, [...fresh, ...above])
}

describe('patchShard', () => {
  const services = fc.record({
    name: fc.constantFrom('a', 'bb', 'ccc', 'dddd'),
    size: fc.nat(6),
    namespace: fc.constantFrom('shop', 'blog', 'zoo'),
  })

  test('makes the bytes that the whole would be', () => {
    fc.assert(
      fc.property(fc.array(services, { maxLength: 5 }), services, services, (rest, one, other) => {
        const entriesOf = (s: typeof one): ZoneEntry[] => service(s.name, s.size, s.namespace)
        const others = [...ZONE_NAMES, ...rest.flatMap(entriesOf)]
        const [before, after] = [entriesOf(one), entriesOf(other)]
        assert.deepEqual(patched(before, after, others), buildShard(whole([...others, ...after])))
      }),
    )
  })

  test('keeps other units when the index and the namespaces change', () => {
    const others = [...ZONE_NAMES, ...service('web', 3, 'shop')]
    const { bytes, namespaces } = patched([], service('db', 40, 'blog'), others)
    assert.deepEqual(namespaces, ['', 'blog', 'shop'])
    assert.deepEqual(openShard(bytes).namespaces, namespaces)
  })

  test('keeps the bytes of a shard in which nothing is replaced', () => {
    const shard = buildShard(whole([...ZONE_NAMES, ...service('web', 3, 'shop')]))
    assert.deepEqual(patchShard(shard, new Set(), []), shard)
  })
})
