import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { classText, typeText } from '../../../src/resolver/plugin-kit/mnemonics.ts'

describe('mnemonics of CoreDNS', () => {
  test('name types, also those that no record has', () => {
    const texts = [0, 1, 255, 65_280, 65_535].map(typeText)
    assert.deepEqual(texts, ['None', 'A', 'ANY', 'TYPE65280', 'Reserved'])
  })

  test('name classes, but for the one with the name of a type', () => {
    const texts = [0, 1, 254, 255].map(classText)
    assert.deepEqual(texts, ['CLASS0', 'IN', 'NONE', 'CLASS255'])
  })
})
