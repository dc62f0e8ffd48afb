import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { CLOSURE_FUNCTIONS } from '../../../src/go/expression/calls.ts'
import {
  BINARY,
  CLOSURE_CALLS,
  COMPARISONS,
  FROM_THE_RIGHT,
  NEGATABLE,
} from '../../../src/go/expression/grammar.ts'

describe('the grammar', () => {
  test('gives every special operator a precedence', () => {
    for (const set of [COMPARISONS, FROM_THE_RIGHT, NEGATABLE]) {
      for (const operator of set) assert.ok(BINARY.has(operator), operator)
    }
  })

  test('lists exactly the functions with closures', () => {
    assert.deepEqual([...CLOSURE_CALLS].sort(), Object.keys(CLOSURE_FUNCTIONS).sort())
  })
})
