import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ScopeChoice, ScopeTable } from '../../../src/snapshot/write/namespace-table.ts'

describe('ScopeTable', () => {
  test('numbers namespaces once, that of all first', () => {
    const table = new ScopeTable()
    const ids = ['shop', 'blog', 'shop', '', 'blog'].map((name) => table.idOf(name))
    assert.deepEqual(ids, [1, 2, 1, 0, 2])
    assert.deepEqual(
      ids.map((id) => table.nameOf(id)),
      ['shop', 'blog', 'shop', '', 'blog'],
    )
  })
})

describe('ScopeChoice', () => {
  test('lists what was chosen in order, and has their places', () => {
    const table = new ScopeTable()
    const [shop, blog] = [table.idOf('shop'), table.idOf('blog')]
    table.idOf('other')
    const choice = new ScopeChoice(table, table.inOrder())
    choice.add(shop)
    choice.addName('blog')
    choice.addName('shop')
    assert.deepEqual(choice.list(), ['', 'blog', 'shop'])
    assert.deepEqual([choice.placeOf(0), choice.placeOf(blog), choice.placeOf(shop)], [0, 1, 2])
  })

  test('always has the one that all may see', () => {
    const table = new ScopeTable()
    assert.deepEqual(new ScopeChoice(table, table.inOrder()).list(), [''])
  })
})
