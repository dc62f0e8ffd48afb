import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { hashName } from '../../../src/snapshot/format/name-hash.ts'
import { shardNameKey, unitStart } from '../../../src/snapshot/format/shard-key.ts'
import {
  compareNodes,
  endKey,
  NodeDraft,
  NodeTable,
} from '../../../src/snapshot/write/node-draft.ts'
import { labels } from '../entries.ts'

function nodeOf(name: string): NodeDraft {
  const owner = labels(name)
  const unit = shardNameKey(owner, 0, owner.length)
  return new NodeDraft(owner, 'shop', { unit, unitStart: unitStart(owner) })
}

describe('NodeDraft', () => {
  test('is sorted by its labels from the last to the first', () => {
    const names = ['c.b.a', 'a', 'b.a', 'a.b', 'bb.a', 'a.c.b.a']
    assert.deepEqual(
      names.map(nodeOf).sort(compareNodes),
      ['a', 'b.a', 'c.b.a', 'a.c.b.a', 'bb.a', 'a.b'].map(nodeOf).map((node) => {
        assert.equal(node.key, endKey(node.owner))
        return node
      }),
    )
  })

  test('is sorted within a unit as among all', () => {
    const label = fc.constantFrom('a', 'b', 'aa', 'ab', '_tcp', '_http', '10-0-0-1')
    const names = fc.array(label, { maxLength: 3 })
    fc.assert(
      fc.property(names, names, (some, others) => {
        const [a, b] = [
          nodeOf([...some, 'web.shop.svc'].join('.')),
          nodeOf([...others, 'web.shop.svc'].join('.')),
        ]
        assert.equal(Math.sign(a.compareInUnit(b)), Math.sign(compareNodes(a, b)))
      }),
    )
  })
})

describe('NodeTable', () => {
  test('finds names by their bytes, also at the end of longer ones', () => {
    const table = new NodeTable()
    const [web, shop] = [nodeOf('web.shop.svc'), nodeOf('shop.svc')]
    for (const node of [web, shop]) table.add(node)
    const owner = labels('a.web.shop.svc')
    assert.equal(table.find(owner, 0), undefined)
    assert.equal(table.find(owner, 2), web)
    assert.equal(table.find(owner, 6), shop)
    assert.deepEqual(table.nodes, [web, shop])
  })

  test('grows, and forgets', () => {
    const table = new NodeTable()
    for (const size of [3000, 10, 0]) {
      table.clear(size % 7)
      const nodes = Array.from({ length: size }, (_, i) => nodeOf(`n${i}.web`))
      for (const node of nodes) table.add(node)
      for (const [i, node] of nodes.entries())
        assert.equal(table.find(labels(`n${i}.web`), 0), node)
      assert.equal(table.find(labels(`n${size}.web`), 0), undefined)
    }
  })

  test('takes no longer for names of one hash', () => {
    const table = new NodeTable()
    const owners = colliding(40_000)
    assert.equal(new Set(owners.map((owner) => hashName(owner, owner.length, 0))).size, 1)
    const nodes = owners.map((owner) => new NodeDraft(owner, '', { unit: 0, unitStart: 0 }))
    for (const node of nodes) {
      assert.equal(table.find(node.owner, 0), undefined)
      table.add(node)
    }
    for (const node of nodes) assert.equal(table.find(node.owner, 0), node)
  })
})

/** Labels of eight bytes with one hash: to each first four, the others that make up for them. */
function colliding(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => {
    const octets = new Uint8Array(8)
    const view = new DataView(octets.buffer)
    view.setInt32(0, i, true)
    view.setInt32(4, hashName(octets, 4, 0), true)
    return octets
  })
}
