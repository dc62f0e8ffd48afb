import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { unitOf } from '../../../src/snapshot/write/group-units.ts'
import { KeptNodes } from '../../../src/snapshot/write/kept-nodes.ts'
import { draftNodes } from '../../../src/snapshot/write/node-drafts.ts'
import { existingName, rrset } from '../entries.ts'

const NAMES = ['svc', 'shop.svc', 'api.shop.svc', 'db.shop.svc', 'web.shop.svc']

function kept(...replaced: string[]): KeptNodes {
  const [bytes = new Uint8Array(0)] = buildShards(NAMES.map((name) => existingName(name)))
  const shard = openShard(bytes)
  return new KeptNodes(
    { shard, starts: shard.nodes(), end: shard.field(8) },
    new Set(replaced.map((name) => unitOf(existingName(name)))),
  )
}

/** The pieces of a merge, new nodes by their first label. */
function pieces(nodes: KeptNodes, ...names: string[]): string[] {
  const drafts = draftNodes(names.map((name) => rrset(`${name} 5 IN A 192.0.2.1`))).nodes
  return nodes.mergeWith(drafts).map((piece) => {
    if (piece.kind === 'kept') return `${piece.from}-${piece.to}`
    return piece.nodes
      .map(({ owner: [size = 0, ...text] }) => String.fromCharCode(...text.slice(0, size)))
      .join()
  })
}

describe('KeptNodes', () => {
  test('keeps the nodes of other units', () => {
    assert.equal(kept().count, 5)
    assert.equal(kept('db.shop.svc').count, 4)
    assert.equal(kept('a.db.shop.svc', 'svc').count, 3)
  })

  const cases: readonly { name: string; names: readonly string[]; merged: readonly string[] }[] = [
    { name: 'nothing', names: [], merged: ['0-4'] },
    { name: 'a replaced name', names: ['db.shop.svc'], merged: ['0-2', 'db', '2-4'] },
    { name: 'a name before all', names: ['dns'], merged: ['dns', '0-4'] },
    { name: 'a name after all', names: ['x.depot.svc'], merged: ['0-4', 'x'] },
    {
      name: 'adjacent and separate names',
      names: ['bb.shop.svc', 'ba.shop.svc', 'a.ba.shop.svc', 'yyyy.shop.svc'],
      merged: ['0-2', 'ba,a,bb', '2-4', 'yyyy'],
    },
  ]
  for (const { name, names, merged } of cases) {
    test(`merges ${name}`, () => {
      assert.deepEqual(pieces(kept('db.shop.svc'), ...names), merged)
    })
  }
})
