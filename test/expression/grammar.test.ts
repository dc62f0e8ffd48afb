import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { isBuiltIn } from '../../src/expression/calls.ts'
import {
  BINARY,
  CLOSURE_ARGS,
  COMPARISONS,
  FROM_THE_RIGHT,
  NEGATABLE,
} from '../../src/expression/grammar.ts'

describe('the grammar', () => {
  test('knows every operator that it says more of', () => {
    for (const set of [COMPARISONS, FROM_THE_RIGHT, NEGATABLE]) {
      for (const operator of set) assert.ok(BINARY.has(operator), operator)
    }
  })

  test('has only functions with closures that there are', () => {
    for (const name of CLOSURE_ARGS.keys()) assert.ok(isBuiltIn(name), name)
  })
})
