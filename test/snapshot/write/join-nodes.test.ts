import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { buildShard } from '../../../src/snapshot/write/build-shards.ts'
import {
  joinNodes,
  NO_INDEX,
  placeNames,
  planIndex,
} from '../../../src/snapshot/write/join-nodes.ts'
import { KeptNodes } from '../../../src/snapshot/write/kept-nodes.ts'
import { draftNodes } from '../../../src/snapshot/write/node-drafts.ts'
import { existingName, rrset } from '../entries.ts'

test('joinNodes copies nodes into a shard with other namespace numbers', () => {
  const entries = [
    rrset('a.api.shop.svc 5 IN A 192.0.2.1', 'shop'),
    existingName('api.shop.svc', 'shop'),
    rrset('_x._tcp.web.blog.svc 5 IN SRV 0 1 80 web.blog.svc', 'blog'),
    rrset('web.blog.svc 5 IN A 192.0.2.2', 'blog'),
  ]
  const isBlog = (entry: (typeof entries)[number]): boolean => entry.namespace === 'blog'
  const [shop, blog] = [entries.filter((e) => !isBlog(e)), entries.filter(isBlog)]
  const shard = openShard(buildShard(shop).bytes)
  const source = new KeptNodes({ shard, starts: shard.nodes(), end: shard.field(8) })
  const kept = { kind: 'kept', source, from: 0, to: source.count } as const
  const pieces = [{ kind: 'new', nodes: draftNodes(blog).nodes } as const, kept]
  const namespaces = ['', 'blog', 'shop']
  const joined = joinNodes(pieces, namespaces).finish()
  assert.deepEqual(joined, buildShard(entries))
})

describe('planIndex', () => {
  test('has two slots for no names', () => {
    assert.deepEqual(
      planIndex(0, () => new Int32Array(0)),
      {
        seed: 0,
        slotCount: 2,
        hashes: new Int32Array(0),
      },
    )
  })

  test('takes the first seed without a long search', () => {
    const spread = (seed: number): Int32Array =>
      Int32Array.from({ length: 40 }, (_, i) => (seed < 3 ? 7 : i))
    assert.equal(planIndex(40, spread).seed, 3)
  })

  test('takes seed 0 when names collide by every seed', () => {
    assert.equal(planIndex(40, () => new Int32Array(40)).seed, 0)
  })
})

test('placeNames gives a colliding name the next free slot, and wraps around', () => {
  const hashes = Int32Array.of(3, 7, 3)
  assert.deepEqual([...placeNames({ seed: 0, slotCount: 4, hashes })], [2, 3, 0, 1])
})

test('NO_INDEX has no slots', () => {
  assert.deepEqual(placeNames(NO_INDEX), new Int32Array(0))
})
