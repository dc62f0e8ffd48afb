import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { nameKey, unitStart } from '../../../src/snapshot/format/shard-key.ts'
import { compareNodes, endKey, NodeDraft } from '../../../src/snapshot/write/node-draft.ts'
import { labels } from '../entries.ts'

function nodeOf(name: string): NodeDraft {
  const owner = labels(name)
  const unit = nameKey(owner, 0, owner.length)
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
