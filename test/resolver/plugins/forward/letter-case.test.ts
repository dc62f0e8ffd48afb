import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { equalNames, formatName, nameOf } from '../../../../src/dns/names/name.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { writeQuery } from '../../../../src/dns/wire/write-query.ts'
import {
  restoreCase,
  withRandomCase,
} from '../../../../src/resolver/plugins/forward/letter-case.ts'
import { FakeHost } from '../../../fake-host.ts'

const { random16 } = new FakeHost()

function queryFor(name: string): Uint8Array {
  return writeQuery({ name: nameOf(name), type: TYPE.A, id: 7 })
}

function nameIn(message: Uint8Array): string {
  return formatName(message.subarray(12, message.indexOf(0, 12) + 1))
}

describe('withRandomCase', () => {
  test('changes only the letter case of the name', () => {
    const names = ['www.example.org', 'WWW.Example.Org', 'a-1_2.xn--p1ai', 'x'.repeat(63), '.']
    for (const name of names) {
      const query = queryFor(name)
      for (let i = 0; i < 20; i++) {
        const mixed = withRandomCase(query, random16)
        assert.ok(equalNames(mixed.subarray(12, -4), query.subarray(12, -4)))
        assert.deepEqual(mixed.subarray(0, 12), query.subarray(0, 12))
        assert.deepEqual(mixed.subarray(-4), query.subarray(-4))
      }
    }
  })

  test('writes each letter about as often in either case', () => {
    const query = queryFor('abcdefghijklmnopqrstuvwxyz.example')
    const counts = new Array<number>(query.length).fill(0)
    const ROUNDS = 1000
    for (let i = 0; i < ROUNDS; i++) {
      const mixed = withRandomCase(query, random16)
      for (let at = 12; at < mixed.length; at++)
        if (mixed[at] !== query[at]) counts[at] = (counts[at] ?? 0) + 1
    }
    for (let at = 13; at < 39; at++) {
      const count = counts[at] ?? 0
      assert.ok(count > 0.4 * ROUNDS && count < 0.6 * ROUNDS, `${at}: ${count}`)
    }
  })
})

describe('restoreCase', () => {
  const plain = queryFor('www.Example.org')

  test('returns the case of the query, for the right case only', () => {
    const sent = withRandomCase(plain, random16)
    assert.equal(nameIn(restoreCase(sent, sent, plain) ?? new Uint8Array()), 'www.Example.org.')
    const other = sent.slice()
    other[13] = (other[13] ?? 0) ^ 0x20
    assert.equal(restoreCase(other, sent, plain), undefined)
  })

  test('never throws, whatever an upstream sends', () => {
    const sent = withRandomCase(plain, random16)
    const property = fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      const reply = Uint8Array.of(...bytes)
      assert.equal(restoreCase(reply, sent, plain), undefined)
    })
    fc.assert(property)
  })
})
