import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { readNamespaceNames, type Shard } from '../../../src/snapshot/read/shard.ts'
import type { ZoneEntry } from '../../../src/snapshot/records/zone-entry.ts'
import { buildShard } from '../../../src/snapshot/write/build-shards.ts'
import { nodesOf } from '../contents.ts'
import { addressNames, existingName, labels, pointer, rrset } from '../entries.ts'

const ENTRIES: readonly ZoneEntry[] = [
  existingName('svc'),
  { ...existingName('pod'), isImplied: true },
  addressNames('shop.pod', 'shop'),
  { ...rrset('ns.dns 5 IN A 192.0.2.53'), isGlue: true },
  rrset('web.shop.svc 5 IN A 192.0.2.1\nweb.shop.svc 5 IN A 192.0.2.2', 'shop'),
  rrset('web.shop.svc 16777215 IN TXT x', 'shop'),
  pointer([192, 0, 2, 1], 'web.shop.svc', { namespace: 'shop' }),
]

function find(shard: Shard, name: string): number {
  return shard.findNode(labels(name), labels(name).length)
}

describe('Shard.findNode', () => {
  const shard = openShard(buildShard(ENTRIES).bytes)
  const found = ['svc', 'pod', 'shop.pod', 'ns.dns', 'web.shop.svc']
  const absent: { name: string; text: string }[] = [
    { name: 'the apex, of which nothing was said', text: '' },
    { name: 'a name that only is above another', text: 'shop.svc' },
    { name: 'a name below', text: 'a.web.shop.svc' },
    { name: 'a name in capitals, which callers fold', text: 'SVC' },
    { name: 'labels that join to the same bytes', text: 'shop\\003svc' },
  ]
  for (const text of found) {
    test(`finds ${text}`, () => {
      const node = find(shard, text)
      const start = shard.nameOffset(node)
      const name = shard.bytes.subarray(start, start + shard.nameBytes(node))
      assert.deepEqual(name, labels(text))
    })
  }
  for (const { name, text } of absent) {
    test(`does not find ${name}`, () => {
      assert.equal(find(shard, text), 0)
    })
  }

  test('reads the first bytes only', () => {
    const name = labels('web.shop.svc.cluster.local')
    assert.equal(shard.findNode(name, 13), find(shard, 'web.shop.svc'))
  })

  test('finds nothing in an empty shard', () => {
    assert.equal(find(openShard(buildShard([]).bytes), 'svc'), 0)
  })

  test('distinguishes names whose searches overlap', () => {
    const names = Array.from({ length: 400 }, (_, i) => `s${i}`)
    const many = openShard(buildShard(names.map((name) => existingName(name))).bytes)
    const nodes = new Set(names.map((name) => find(many, name)))
    assert.equal(nodes.size, 400)
    assert.ok(!nodes.has(0))
    for (let i = 400; i < 2000; i++) assert.equal(find(many, `s${i}`), 0)
  })
})

describe('a node', () => {
  const shard = openShard(buildShard(ENTRIES).bytes)
  const cases: {
    text: string
    namespace: string
    setCount: number
    flags: { isImplied?: true; isGlue?: true; hasAddressNames?: true }
  }[] = [
    { text: 'svc', namespace: '', setCount: 0, flags: {} },
    { text: 'pod', namespace: '', setCount: 0, flags: { isImplied: true } },
    { text: 'shop.pod', namespace: 'shop', setCount: 0, flags: { hasAddressNames: true } },
    { text: 'ns.dns', namespace: '', setCount: 1, flags: { isGlue: true } },
    { text: 'web.shop.svc', namespace: 'shop', setCount: 2, flags: {} },
  ]
  for (const { text, namespace, setCount, flags } of cases) {
    test(`describes it: ${text}`, () => {
      const node = find(shard, text)
      assert.equal(shard.namespaces[shard.nodeNamespaceId(node)], namespace)
      assert.equal(shard.setCount(node), setCount)
      assert.equal(shard.isImplied(node), flags.isImplied ?? false)
      assert.equal(shard.isGlue(node), flags.isGlue ?? false)
      assert.equal(shard.hasAddressNames(node), flags.hasAddressNames ?? false)
    })
  }

  test('has a reference for each of its types', () => {
    const node = find(shard, 'web.shop.svc')
    const ref = shard.findSet(node, TYPE.A)
    assert.equal(shard.refType(ref), TYPE.A)
    assert.equal(shard.refCount(ref), 2)
    assert.equal(shard.setTtl(shard.refSet(ref)), 5)
    assert.equal(shard.setForm(shard.refSet(ref)), 0)
    const text = shard.findSet(node, TYPE.TXT)
    assert.equal(shard.refCount(text), 1)
    assert.equal(shard.setTtl(shard.refSet(text)), 0xffffff)
    assert.equal(shard.setForm(shard.refSet(text)), 2)
  })

  test('has no reference for another type', () => {
    assert.equal(shard.findSet(find(shard, 'web.shop.svc'), TYPE.AAAA), 0)
    assert.equal(shard.findSet(find(shard, 'svc'), TYPE.A), 0)
  })

  test('lists its references, in the order of their types', () => {
    const node = find(shard, 'web.shop.svc')
    const refs = [shard.findSet(node, TYPE.A), shard.findSet(node, TYPE.TXT)]
    assert.deepEqual(shard.refs(node), refs)
    assert.deepEqual(shard.refs(find(shard, 'svc')), [])
  })

  test('is followed by all others', () => {
    const nodes = ['svc', 'pod', 'shop.pod', 'ns.dns', 'web.shop.svc'].map((name) =>
      find(shard, name),
    )
    assert.deepEqual(
      nodesOf(shard),
      nodes.sort((a, b) => a - b),
    )
    assert.equal(shard.nodeCount, 5)
  })
})

describe('the address tables of a shard', () => {
  test('hold each address with its namespace and its names', () => {
    const shard = openShard(buildShard(ENTRIES).bytes)
    assert.equal(shard.addresses4.count, 1)
    assert.equal(shard.addresses6.count, 0)
    assert.deepEqual(shard.addresses4.address(0), Uint8Array.of(192, 0, 2, 1))
    assert.equal(shard.namespaces[shard.addresses4.namespaceId(0)], 'shop')
    assert.equal(shard.addresses4.targetCount(0), 1)
  })

  test('keep their columns apart', () => {
    const six = [0x20, 1, 0xd, 0xb8, ...Array<number>(12).fill(1)]
    const shard = openShard(
      buildShard([
        pointer([192, 0, 2, 1], 'a'),
        pointer([192, 0, 2, 2], 'a', { namespace: 'shop' }),
        pointer(six, 'b', { namespace: 'blog' }),
        pointer(six, 'c', { namespace: 'blog' }),
      ]).bytes,
    )
    const { addresses4, addresses6 } = shard
    assert.deepEqual([addresses4.count, addresses6.count], [2, 1])
    assert.deepEqual(
      [addresses4.namespaceId(0), addresses4.namespaceId(1), addresses6.namespaceId(0)],
      [0, 2, 1],
    )
    assert.equal(addresses6.targetCount(0), 2)
    assert.deepEqual([...addresses6.address(0)], six)
    assert.ok(addresses4.set(0) < addresses4.set(1))
  })
})

const LONG = 'x'.repeat(300)

/** Names as a shard has them. */
function written(names: readonly string[]): Uint8Array {
  return Buffer.concat(
    names.map((name) => {
      const octets = Buffer.from(name)
      return Buffer.concat([Buffer.of(octets.length & 0xff, octets.length >>> 8), octets])
    }),
  )
}

describe('readNamespaceNames', () => {
  const cases: { name: string; names: readonly string[] }[] = [
    { name: 'none', names: [] },
    { name: 'the empty one', names: [''] },
    { name: 'some', names: ['', 'blog', 'shop'] },
    { name: 'some that are not ASCII', names: ['', 'blög', 'shop', '店'] },
    { name: 'one whose size is no ASCII', names: ['', 'y'.repeat(200), 'shop'] },
    { name: 'one whose size takes both bytes', names: ['', LONG, 'shop'] },
  ]
  for (const { name, names } of cases) {
    test(`reads ${name}`, () => {
      assert.deepEqual(readNamespaceNames(written(names), names.length), names)
    })
  }

  test('ignores the bytes after them', () => {
    const bytes = Buffer.concat([written(['', 'shop']), Buffer.of(0xff, 0xff, 0xff)])
    assert.deepEqual(readNamespaceNames(bytes, 2), ['', 'shop'])
  })
})
