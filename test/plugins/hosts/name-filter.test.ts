import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { lowerName, nameOf } from '../../../src/dns/name.ts'
import { parseQuery, type Query } from '../../../src/dns/query.ts'
import { TYPE } from '../../../src/dns/rr-type.ts'
import { writeQuery } from '../../../src/dns/write-query.ts'
import { NameFilter } from '../../../src/plugins/hosts/hosts-file.ts'
import { wireName } from '../../generators.ts'

function queryFor(name: Uint8Array): Query {
  const query = parseQuery(writeQuery({ name, type: TYPE.A }))
  return query.kind === 'query' ? query : assert.fail('a query')
}

describe('NameFilter', () => {
  test('lets every name of the set pass, in any letter case', () => {
    fc.assert(
      fc.property(fc.array(wireName(), { maxLength: 50 }), (names) => {
        const filter = new NameFilter(names.map(lowerName))
        for (const name of names) assert.ok(filter.mayHave(queryFor(name)))
      }),
    )
  })

  test('lets any label pass below the name of a wildcard, and one only', () => {
    const filter = new NameFilter([], [nameOf('wild.test')])
    assert.ok(filter.mayHave(queryFor(nameOf('A.Wild.test'))))
    assert.ok(filter.mayHave(queryFor(nameOf('bcd.wild.test'))))
    assert.ok(!filter.mayHave(queryFor(nameOf('wild.test'))))
    assert.ok(!filter.mayHave(queryFor(nameOf('a.b.wild.test'))))
  })

  test('stops nearly all others', () => {
    const names = Array.from({ length: 1000 }, (_, i) => nameOf(`host-${1000 + i}.example.org`))
    const filter = new NameFilter(names)
    const others = names.map((_, i) => nameOf(`host-${5000 + i}.example.org`))
    const passed = others.filter((name) => filter.mayHave(queryFor(name))).length
    assert.ok(passed < 150, `${passed} of 1000`)
  })

  test('has nothing when it is empty', () => {
    assert.ok(!new NameFilter([]).mayHave(queryFor(nameOf('a.test'))))
    assert.ok(!new NameFilter([]).mayHave(queryFor(Uint8Array.of(0))))
  })
})
