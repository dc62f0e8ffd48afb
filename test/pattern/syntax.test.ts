import { equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { negated, onlyCharacter, setOf } from '../../src/pattern/syntax.ts'

describe('onlyCharacter', () => {
  test('tells which character a set is, if it is one', () => {
    equal(onlyCharacter(setOf([[97, 97]])), 'a')
    equal(onlyCharacter(setOf([[45, 45]], true)), '-')
    equal(onlyCharacter(setOf([[97, 97]], true)), undefined)
    equal(onlyCharacter(setOf([[97, 98]])), undefined)
    equal(onlyCharacter(setOf([])), undefined)
    equal(onlyCharacter(negated(setOf([[97, 97]]))), undefined)
  })
})
