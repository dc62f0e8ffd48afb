import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { FORM } from '../../../src/snapshot/format/layout.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import type { Shard } from '../../../src/snapshot/read/shard.ts'
import type { ZoneEntry } from '../../../src/snapshot/records/zone-entry.ts'
import { buildShard } from '../../../src/snapshot/write/build-shards.ts'
import { contentsOfShards } from '../contents.ts'
import { existingName, labels, pointer, rrset, zoneEntry } from '../entries.ts'

function shardOf(...entries: readonly ZoneEntry[]): Shard {
  return openShard(buildShard(entries).bytes)
}

/** All below one Service: what stands elsewhere shares nothing. */
const WEB = 'web.shop.svc'

/** The form of the only set at a name. */
function formAt(shard: Shard, name: string): number {
  const node = shard.findNode(labels(name), labels(name).length)
  assert.equal(shard.setCount(node), 1)
  return shard.setForm(shard.refSet(node + 4))
}

/** Bytes of all sets of a shard. */
function setsBytes(shard: Shard): number {
  const nodes = [...shard.nodes()]
  const sizes = nodes.map(
    (node) => (shard.nameOffset(node) + shard.nameBytes(node) - node + 3) & ~3,
  )
  return shard.field(9) - shard.field(6) - sizes.reduce((sum, size) => sum + size, 0)
}

describe('buildShard', () => {
  const forms: { name: string; records: string; form: number }[] = [
    { name: 'keeps addresses side by side', records: 'x 5 IN AAAA 2001:db8::1', form: FORM.FIXED },
    {
      name: 'refers to the nodes of SRV targets',
      records: `x 5 IN SRV 0 1 80 a.${WEB}`,
      form: FORM.TARGETS,
    },
    {
      name: 'writes SRV targets out that are no nodes of the shard',
      records: `x 5 IN SRV 0 1 80 a.${WEB}\nx 5 IN SRV 0 1 80 b.${WEB}`,
      form: FORM.PARTS,
    },
    {
      name: 'writes SRV targets out that are below another Service',
      records: 'x 5 IN SRV 0 1 80 a.api.shop.svc',
      form: FORM.PARTS,
    },
    {
      name: 'writes SRV targets out that are outside of the zone',
      records: 'x 5 IN SRV 0 1 80 www.example.org.',
      form: FORM.PARTS,
    },
    {
      name: 'writes other names out, nodes or not',
      records: `x 5 IN CNAME a.${WEB}`,
      form: FORM.PARTS,
    },
  ]
  for (const { name, records, form } of forms) {
    test(name, () => {
      const owned = records.replaceAll('x 5', `x.${WEB} 5`)
      const others = [existingName(`a.${WEB}`), existingName('a.api.shop.svc')]
      assert.equal(formAt(shardOf(rrset(owned), ...others), `x.${WEB}`), form)
    })
  }

  const shared: { name: string; entries: readonly ZoneEntry[]; bytes: number }[] = [
    {
      name: 'stores sets of the same bytes once',
      entries: [rrset(`a.${WEB} 5 IN A 192.0.2.1`), rrset(`b.${WEB} 5 IN A 192.0.2.1`)],
      bytes: 8,
    },
    {
      name: 'stores them for each Service',
      entries: [rrset(`${WEB} 5 IN A 192.0.2.1`), rrset('api.shop.svc 5 IN A 192.0.2.1')],
      bytes: 16,
    },
    {
      name: 'keeps sets with other TTLs apart',
      entries: [rrset(`a.${WEB} 5 IN A 192.0.2.1`), rrset(`b.${WEB} 6 IN A 192.0.2.1`)],
      bytes: 16,
    },
    {
      name: 'keeps sets of other types apart',
      entries: [rrset(`a.${WEB} 5 IN CNAME x`), rrset(`b.${WEB} 5 IN PTR x`)],
      bytes: 24,
    },
    {
      name: 'keeps sets of addresses and names apart',
      entries: [rrset(`a.${WEB} 5 IN PTR x`), pointer([192, 0, 2, 1], 'x')],
      bytes: 24,
    },
  ]
  for (const { name, entries, bytes } of shared) {
    test(name, () => {
      assert.equal(setsBytes(shardOf(...entries)), bytes)
    })
  }

  test('sorts the types of a name', () => {
    const shard = shardOf(
      rrset('a 5 IN AAAA 2001:db8::1'),
      rrset('a 5 IN TXT x'),
      rrset('a 5 IN A 192.0.2.1'),
    )
    const node = shard.findNode(labels('a'), 2)
    assert.deepEqual(
      [4, 12, 20].map((at) => shard.refType(node + at)),
      [1, 16, 28],
    )
  })

  test('numbers the namespaces by name, after the empty one', () => {
    const namespaces = ['shop', 'blog', '', 'zoo', 'blog']
    const names = namespaces.map((namespace, i) => existingName(`a${i}`, namespace))
    const shard = shardOf(...names, pointer([192, 0, 2, 1], 'x', { namespace: 'mail' }))
    assert.deepEqual(shard.namespaces, ['', 'blog', 'mail', 'shop', 'zoo'])
  })

  test('writes namespaces in UTF-8', () => {
    const namespaces = ['bücher', 'shop', '本']
    const shard = shardOf(...namespaces.map((namespace, i) => existingName(`a${i}`, namespace)))
    assert.deepEqual(shard.namespaces, ['', 'bücher', 'shop', '本'])
  })

  test('leaves a third of the slots free or more, and no search over 16 slots', () => {
    for (const count of [1, 2, 3, 85, 1000]) {
      const names = Array.from({ length: count }, (_, i) => existingName(`s${i}`))
      const shard = shardOf(...names)
      const [slots, slotCount] = [shard.field(4) >>> 2, shard.field(5)]
      assert.ok(slotCount >= 1.5 * count, `${slotCount} slots for ${count}`)
      for (let slot = 0; slot < slotCount; slot++) {
        if (shard.words[slots + 2 * slot + 1] === 0) continue
        const first = (shard.words[slots + 2 * slot] ?? 0) & (slotCount - 1)
        assert.ok(((slot - first) & (slotCount - 1)) < 16)
      }
    }
  })

  test('gives the same bytes whatever order entries come in', () => {
    fc.assert(
      fc.property(fc.array(zoneEntry(), { maxLength: 15 }), (entries) => {
        assert.deepEqual(buildShard(entries.toReversed()).bytes, buildShard(entries).bytes)
      }),
    )
  })

  test('stores duplicate records once', () => {
    fc.assert(
      fc.property(fc.array(zoneEntry(), { maxLength: 15 }), (entries) => {
        assert.deepEqual(
          contentsOfShards([shardOf(...entries, ...entries)]),
          contentsOfShards([shardOf(...entries)]),
        )
      }),
    )
  })
})

describe('the limits of buildShard', () => {
  const types = (count: number): ZoneEntry[] =>
    Array.from({ length: count }, (_, i) => rrset(`a 5 IN TYPE${65_000 + i} \\# 1 00`))
  const namespaces = (count: number): ZoneEntry[] =>
    Array.from({ length: count }, (_, i) => existingName('a', `n${i}`)).map((entry, i) => ({
      ...entry,
      owner: labels(`a${i}`),
    }))

  test('takes 127 types at a name', () => {
    const shard = shardOf(...types(127))
    assert.equal(shard.setCount(shard.findNode(labels('a'), 2)), 127)
  })

  test('refuses 128 types at a name', () => {
    assert.throws(() => buildShard(types(128)).bytes, {
      name: 'SnapshotError',
      message: 'Cannot build shard: 128 types at one name',
    })
  })

  test('takes 16,383 namespaces beside the empty one', () => {
    const shard = shardOf(...namespaces(16_383))
    assert.equal(shard.namespaces.length, 16_384)
    const node = shard.findNode(labels('a777'), 5)
    assert.equal(shard.namespaces[shard.nodeNamespaceId(node)], 'n777')
    assert.equal(shard.isImplied(node), false)
  })

  test('refuses 16,384 namespaces beside the empty one', () => {
    assert.throws(() => buildShard(namespaces(16_384)).bytes, {
      name: 'SnapshotError',
      message: 'Cannot build shard: 16384 namespaces, at most 16383',
    })
  })
})
