import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { KeyTable } from '../../../../src/resolver/plugins/etcd/key-table.ts'

function tableOf(...keys: readonly string[]): KeyTable {
  const table = new KeyTable()
  for (const key of keys) table.set({ key, value: '{}', lease: '' })
  return table
}

function keysBelow(table: KeyTable, prefix: string): string[] {
  return [...table.below(prefix)].map(([key]) => key)
}

describe('KeyTable', () => {
  test('lists keys in order, however they came', () => {
    const table = tableOf('/b', '/a/2', '/c', '/a/1', '/a', '/a/10')
    assert.deepEqual(keysBelow(table, ''), ['/a', '/a/1', '/a/10', '/a/2', '/b', '/c'])
    assert.deepEqual(keysBelow(table, '/a/'), ['/a/1', '/a/10', '/a/2'])
    assert.deepEqual(keysBelow(table, '/d'), [])
  })

  test('changes a key in its place', () => {
    const table = tableOf('/a', '/b')
    table.set({ key: '/a', value: '{"host":"192.0.2.1"}', lease: '' })
    assert.equal(table.size, 2)
    const found = table.find('/a')
    assert.ok(typeof found === 'object')
    assert.equal(found.host, '192.0.2.1')
  })

  test('counts the characters that it holds', () => {
    const table = new KeyTable()
    const set = (value: string): unknown => table.set({ key: '/a', value, lease: '' })
    for (const [value, held] of [
      ['{"host":"192.0.2.1","text":"hi","group":"g","other":"not held"}', 2 + 9 + 2 + 1],
      ['{"host":"x"}', 2 + 1],
    ] as const) {
      set(value)
      assert.equal(table.characters, held)
    }
    const reason = set('{')
    assert.equal(table.characters, 2 + String(reason).length)
    table.delete('/a')
    table.delete('/a')
    assert.equal(table.characters, 0)
  })

  test('takes a key out', () => {
    const table = tableOf('/a', '/b', '/c')
    table.delete('/b')
    table.delete('/x')
    assert.deepEqual(keysBelow(table, '/'), ['/a', '/c'])
    assert.equal(table.find('/b'), undefined)
  })

  test('says what is wrong with a value, and keeps it', () => {
    const table = tableOf()
    const wrong = table.set({ key: '/a', value: '[', lease: '' })
    assert.equal(wrong, 'its value is not JSON')
    assert.equal(table.find('/a'), wrong)
  })

  test('is a sorted map', () => {
    const key = fc.stringMatching(/^[ab/]{0,4}$/)
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.boolean())), key, (changes, prefix) => {
        const table = tableOf()
        const model = new Set<string>()
        for (const [one, isThere] of changes) {
          if (isThere) {
            model.add(one)
            table.set({ key: one, value: 'null', lease: '' })
          } else {
            model.delete(one)
            table.delete(one)
          }
        }
        const wanted = [...model].filter((one) => one.startsWith(prefix)).sort()
        assert.deepEqual(keysBelow(table, prefix), wanted)
        assert.equal(table.size, model.size)
      }),
    )
  })
})
