import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { lowerName, nameKey, nameOf } from '../../../src/dns/names/name.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { parseQuery, type Query } from '../../../src/dns/wire/query.ts'
import { writeQuery } from '../../../src/dns/wire/write-query.ts'
import { NameLists } from '../../../src/resolver/plugin-kit/name-lists.ts'
import { wireName } from '../../generators.ts'

function queryFor(name: Uint8Array): Query {
  const query = parseQuery(writeQuery({ name, type: TYPE.A }))
  return query.kind === 'query' ? query : assert.fail('a query')
}

function textsOf(lists: NameLists, name: Uint8Array): string[] {
  return Array.from(lists.valuesOf(lists.find(name)), (value) => new TextDecoder().decode(value))
}

describe('NameLists', () => {
  test('have the values that a Map of arrays has, in order', () => {
    const pair = fc.tuple(wireName().map(lowerName), fc.uint8Array({ maxLength: 300 }))
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 200 }), (pairs) => {
        const lists = new NameLists()
        const model = new Map<string, Uint8Array[]>()
        for (const [name, value] of pairs) {
          lists.append(lists.entry(name), value)
          model.set(nameKey(name), [...(model.get(nameKey(name)) ?? []), value])
        }
        assert.deepEqual([lists.size, lists.valueCount], [model.size, pairs.length])
        for (const [name] of pairs) {
          assert.deepEqual([...lists.valuesOf(lists.find(name))], model.get(nameKey(name)))
          assert.equal(lists.findQuery(queryFor(name), 0), lists.find(name))
        }
        const names = Array.from(lists.entries(), (entry) => nameKey(lists.nameOf(entry)))
        assert.deepEqual(names, [...model.keys()])
      }),
    )
  })

  test('find 100,000 names and no other', () => {
    const lists = new NameLists()
    const nameAt = (i: number): Uint8Array => nameOf(`host-${i}.example.org`)
    for (let i = 0; i < 100_000; i++) {
      lists.append(lists.entry(nameAt(i)), new TextEncoder().encode(String(i)))
    }
    assert.deepEqual(textsOf(lists, nameAt(77_777)), ['77777'])
    assert.equal(lists.size, 100_000)
    for (let i = 100_000; i < 101_000; i++) assert.equal(lists.find(nameAt(i)), 0)
  })

  test('find what follows the first label of a query name', () => {
    const lists = new NameLists()
    const entry = lists.entry(nameOf('wild.test'))
    assert.equal(lists.findQuery(queryFor(nameOf('A.Wild.test')), 2), entry)
    assert.equal(lists.findQuery(queryFor(nameOf('a.b.wild.test')), 2), 0)
    assert.equal(lists.findQuery(queryFor(Uint8Array.of(0)), 1), 0)
  })

  test('take values of 64 KiB, and names without one', () => {
    const lists = new NameLists()
    const name = nameOf('a.test')
    for (const value of [new Uint8Array(65_535).fill(1), new Uint8Array(0)]) {
      lists.append(lists.entry(name), value)
    }
    assert.deepEqual(
      Array.from(lists.valuesOf(lists.find(name)), ({ length }) => length),
      [65_535, 0],
    )
    assert.deepEqual([...lists.valuesOf(lists.entry(nameOf('b.test')))], [])
    assert.deepEqual([...lists.valuesOf(0)], [])
    assert.throws(() => lists.append(lists.find(name), new Uint8Array(300_000)), RangeError)
  })

  test('find nothing when they are empty', () => {
    assert.equal(new NameLists().find(nameOf('a.test')), 0)
    assert.equal(new NameLists().findQuery(queryFor(nameOf('a.test')), 0), 0)
  })
})
