import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  type Datum,
  entriesOf,
  field,
  formatDatum,
  goType,
  isTruthy,
  printDatum,
  Struct,
  TextMap,
} from '../../../src/go/template/datum.ts'

const THING = new Struct('a.Thing', { Name: field(() => 'x') }, () => 'thing')
const TEXTS = new TextMap(
  new Map([
    ['b', '2'],
    ['a', '1'],
  ]),
)

describe('values of templates', () => {
  const cases: readonly [value: Datum, text: string, type: string, isTrue: boolean][] = [
    [undefined, '<no value>', '<nil>', false],
    ['', '', 'string', false],
    ['a', 'a', 'string', true],
    [0n, '0', 'int', false],
    [0, '0', 'float64', false],
    [1.5, '1.5', 'float64', true],
    [false, 'false', 'bool', false],
    [[], '[]', '[]string', false],
    [[1n, undefined], '[1 <nil>]', '[]interface {}', true],
    [new Map([['a', 1n]]), 'map[a:1]', 'map[string]interface {}', true],
    [TEXTS, 'map[a:1 b:2]', 'map[string]string', true],
    [new TextMap(new Map()), 'map[]', 'map[string]string', false],
    [THING, 'thing', 'a.Thing', true],
  ]
  for (const [value, text, type, isTrue] of cases) {
    test(`print as "${text}", are of type ${type} and ${isTrue}`, () => {
      assert.equal(printDatum(value), text)
      assert.equal(goType(value), type)
      assert.equal(isTruthy(value), isTrue)
    })
  }

  test('have entries when they are lists or maps, sorted by key', () => {
    assert.deepEqual(entriesOf(TEXTS), [
      ['a', '1'],
      ['b', '2'],
    ])
    assert.deepEqual(entriesOf(['x']), [[0n, 'x']])
    assert.equal(entriesOf('x'), undefined)
  })

  test('are nothing, with a type, when they are pointers to nothing', () => {
    const nothing = new Struct('a.Thing', undefined, () => '<nil>')
    assert.equal(isTruthy(nothing), false)
    assert.equal(printDatum(nothing), '<nil>')
  })

  test('have fields when they are things', () => {
    assert.equal(THING.member('Name')?.call(), 'x')
    assert.equal(THING.member('constructor'), undefined)
    assert.throws(() => formatDatum(new Struct('a.B', {})), /a a\.B cannot be printed/)
  })
})
