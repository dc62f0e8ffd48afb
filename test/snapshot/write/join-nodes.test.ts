import assert from 'node:assert/strict'
import { test } from 'vitest'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { buildShard } from '../../../src/snapshot/write/build-shards.ts'
import { joinNodes } from '../../../src/snapshot/write/join-nodes.ts'
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
