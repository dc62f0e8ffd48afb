import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { NamespaceChoice, NamespaceTable } from '../../../src/snapshot/write/namespace-table.ts'

describe('NamespaceTable', () => {
  test('numbers namespaces once, that of all first', () => {
    const table = new NamespaceTable()
    const ids = ['shop', 'blog', 'shop', '', 'blog'].map((name) => table.idOf(name))
    assert.deepEqual(ids, [1, 2, 1, 0, 2])
    assert.deepEqual(
      ids.map((id) => table.nameOf(id)),
      ['shop', 'blog', 'shop', '', 'blog'],
    )
  })
})

describe('NamespaceChoice', () => {
  test('lists what was chosen in order, and has their places', () => {
    const table = new NamespaceTable()
    const [shop, blog] = [table.idOf('shop'), table.idOf('blog')]
    table.idOf('other')
    const choice = new NamespaceChoice(table, table.inOrder())
    choice.add(shop)
    choice.addName('blog')
    choice.addName('shop')
    assert.deepEqual(choice.list(), ['', 'blog', 'shop'])
    assert.deepEqual([choice.placeOf(0), choice.placeOf(blog), choice.placeOf(shop)], [0, 1, 2])
  })

  test('always has the one that all may see', () => {
    const table = new NamespaceTable()
    assert.deepEqual(new NamespaceChoice(table, table.inOrder()).list(), [''])
  })
})
