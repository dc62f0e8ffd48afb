import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { lowerName, nameOf } from '../../../../src/dns/names/name.ts'
import { CLASS } from '../../../../src/dns/names/rr-class.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import type { ResourceRecord } from '../../../../src/dns/wire/message.ts'
import { ZoneNodes } from '../../../../src/resolver/plugins/file/zone-nodes.ts'

const ORIGIN = nameOf('example.org')

function record(owner: string, rest: Partial<ResourceRecord> = {}): ResourceRecord {
  const rdata = Uint8Array.of(1, 97)
  return { owner: nameOf(owner), type: TYPE.TXT, class: CLASS.IN, ttlSeconds: 60, rdata, ...rest }
}

describe('ZoneNodes', () => {
  test('return records as they were added, in their order', () => {
    const label = fc.constantFrom('a', 'b', 'A', 'a.b')
    const some = fc
      .record({
        owner: label.map((text) => nameOf(`${text}.example.org`)),
        type: fc.constantFrom(TYPE.TXT, TYPE.A, 65_535),
        class: fc.constantFrom(CLASS.IN, 3),
        ttlSeconds: fc.integer({ min: 0, max: 0x7fffffff }),
        rdata: fc.uint8Array({ maxLength: 40 }),
      })
      .map((fields): ResourceRecord => ({ ...fields }))
    fc.assert(
      fc.property(fc.array(some, { maxLength: 60 }), (records) => {
        const nodes = new ZoneNodes(ORIGIN)
        const expected = new Map<string, ResourceRecord[]>()
        for (const one of records) {
          nodes.addRecord(one)
          const key = `${String(lowerName(one.owner))} ${one.type}`
          const set = expected.get(key) ?? []
          if (!set.some(({ rdata }) => String(rdata) === String(one.rdata))) set.push(one)
          expected.set(key, set)
        }
        for (const { owner, type } of records) {
          const name = lowerName(owner)
          const set = nodes.get(name)?.sets.get(type)
          assert.deepEqual(set, expected.get(`${String(name)} ${type}`))
        }
      }),
    )
  })

  test('find duplicates among many records of a name', () => {
    const nodes = new ZoneNodes(ORIGIN)
    const add = (i: number): void => {
      nodes.addRecord(record('a.example.org', { rdata: Uint8Array.of(2, i >> 8, i & 255) }))
    }
    for (let round = 0; round < 2; round++) for (let i = 0; i < 5000; i++) add(i)
    assert.equal(nodes.get(nameOf('a.example.org'))?.sets.get(TYPE.TXT)?.length, 5000)
  })

  test('have the names above a name up to the apex, and no further', () => {
    const nodes = new ZoneNodes(ORIGIN)
    nodes.addRecord(record('a.b.example.org'))
    const has = (name: string): boolean => nodes.get(nameOf(name)) !== undefined
    assert.deepEqual(
      ['a.b.example.org', 'b.example.org', 'example.org', 'org', '.', 'c.example.org'].map(has),
      [true, true, true, false, false, false],
    )
    assert.equal(nodes.size, 3)
  })
})
