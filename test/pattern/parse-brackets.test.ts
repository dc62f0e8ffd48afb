import { equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compilePattern } from '../../src/pattern/pattern.ts'

describe('sets in brackets', () => {
  const cases: { set: string; has: string; lacks: string }[] = [
    { set: '[a-c]', has: 'abc', lacks: 'dA-' },
    { set: '[^a-c]', has: 'dA-', lacks: 'abc' },
    { set: '[]-]', has: ']-', lacks: 'a' },
    { set: '[a-]', has: 'a-', lacks: 'b' },
    { set: '[\\w.]', has: 'aZ_9.', lacks: '-é' },
    { set: '[^\\D]', has: '09', lacks: 'a' },
    { set: '[[:upper:][:^ascii:]]', has: 'Aé', lacks: 'a1' },
    { set: '(?i)[a-c]', has: 'abcABC', lacks: 'dD' },
    { set: '[\\pL\\x{30}]', has: 'aé0', lacks: '1' },
  ]
  for (const { set, has, lacks } of cases) {
    test(set, () => {
      const pattern = compilePattern(`${set}`)
      for (const character of has) equal(pattern.test(character), true, character)
      for (const character of lacks) equal(pattern.test(character), false, character)
    })
  }
})
