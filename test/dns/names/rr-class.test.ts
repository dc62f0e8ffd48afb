import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { CLASS, formatClass, parseClass } from '../../../src/dns/names/rr-class.ts'
import { queryBytes } from '../wire/messages.ts'
import { decodeMessage } from '../wire/oracle.ts'

describe('CLASS', () => {
  // The oracle has no name for NONE, which is RFC 2136's.
  for (const name of ['IN', 'CS', 'CH', 'HS', 'ANY'] as const) {
    test(`${name} has the same mnemonic in another library`, () => {
      const { questions } = decodeMessage(queryBytes('example.org A', { class: CLASS[name] }))
      assert.equal(questions?.[0]?.class, name)
    })
  }

  test('NONE is the class before ANY (RFC 2136 §1.3)', () => {
    assert.equal(CLASS.NONE, CLASS.ANY - 1)
  })
})

describe('parseClass', () => {
  const cases: { name: string; text: string; value: number | undefined }[] = [
    { name: 'takes a mnemonic of any letter case', text: 'iN', value: 1 },
    { name: 'takes CLASSnnn', text: 'class32', value: 32 },
    { name: 'takes the greatest', text: 'CLASS65535', value: 65535 },
    { name: 'refuses a greater one', text: 'CLASS65536', value: undefined },
    { name: 'refuses six digits', text: 'CLASS000001', value: undefined },
    { name: 'refuses CLASS alone', text: 'CLASS', value: undefined },
    { name: 'refuses a type', text: 'AAAA', value: undefined },
    { name: 'refuses empty text', text: '', value: undefined },
    { name: 'refuses what every object has', text: 'constructor', value: undefined },
  ]
  for (const { name, text, value } of cases) {
    test(name, () => {
      assert.equal(parseClass(text), value)
    })
  }

  test('parses what formatClass writes', () => {
    assert.equal(formatClass(3), 'CH')
    assert.equal(formatClass(32), 'CLASS32')
    fc.assert(
      fc.property(fc.nat(65535), (value) => {
        assert.equal(parseClass(formatClass(value)), value)
      }),
    )
  })
})
