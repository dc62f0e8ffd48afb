import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DynamicTable } from '../../src/http2/dynamic-table.ts'
import { HeaderField } from '../../src/http2/header-field.ts'

const field = (name: string, size = 34): HeaderField =>
  new HeaderField(name, 'v'.repeat(size - 32 - name.length))

function names(table: DynamicTable): string[] {
  const all: string[] = []
  for (let i = 0; ; i++) {
    const one = table.at(i)
    if (one === undefined) return all
    all.push(one.name)
  }
}

describe('DynamicTable', () => {
  test('has the newest first', () => {
    const table = new DynamicTable(4096)
    for (const name of ['a', 'b', 'c']) table.add(field(name))
    assert.deepEqual(names(table), ['c', 'b', 'a'])
  })

  test('lets the oldest go for new ones', () => {
    const table = new DynamicTable(3 * 34)
    for (const name of 'abcdefgh') table.add(field(name))
    assert.deepEqual(names(table), ['h', 'g', 'f'])
    table.add(field('i', 68))
    assert.deepEqual(names(table), ['i', 'h'])
  })

  test('is emptied by what is larger than itself (RFC 7541 §4.4)', () => {
    const table = new DynamicTable(100)
    table.add(field('a'))
    table.add(field('b', 101))
    assert.deepEqual(names(table), [])
    table.add(field('c', 100))
    assert.deepEqual(names(table), ['c'])
  })

  test('has the size that it is told, within its limit', () => {
    const table = new DynamicTable(4096)
    for (const name of 'abcd') table.add(field(name))
    assert.equal(table.resize(70), true)
    assert.deepEqual(names(table), ['d', 'c'])
    assert.equal(table.resize(4097), false)
    assert.equal(table.resize(0), true)
    assert.deepEqual(names(table), [])
    table.add(field('e'))
    assert.deepEqual(names(table), [])
  })

  test('has room for as many of the smallest fields as may be there', () => {
    const table = new DynamicTable(4096)
    for (let i = 0; i < 300; i++) table.add(new HeaderField('', ''))
    assert.equal(names(table).length, 128)
  })
})
