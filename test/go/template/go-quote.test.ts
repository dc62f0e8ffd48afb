import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { quote, unquote } from '../../../src/go/template/go-quote.ts'

describe('text in quotes', () => {
  const cases: readonly [literal: string, text: string | undefined][] = [
    [String.raw`"a\tb\"\\"`, 'a\tb"\\'],
    [String.raw`"\x41\u0042\U00000043\104"`, 'ABCD'],
    ['`raw \\n`', 'raw \\n'],
    [String.raw`'\''`, "'"],
    [String.raw`"\'"`, undefined],
    [String.raw`"\q"`, undefined],
    [String.raw`"\400"`, undefined],
    [String.raw`"\U00110000"`, undefined],
  ]
  for (const [literal, text] of cases) {
    test(`${literal} is ${JSON.stringify(text)}`, () => {
      assert.equal(unquote(literal), text)
    })
  }

  test('is written with escapes for what cannot be seen', () => {
    assert.equal(quote('a"\\\n\x01é\u200b\u{e0001}'), String.raw`"a\"\\\n\x01é\u200b\U000e0001"`)
  })

  test('leads back to itself', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        assert.equal(unquote(quote(text)), text)
      }),
    )
  })
})
