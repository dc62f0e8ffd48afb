import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatString, parseString } from '../../../src/dns/rdata/character-string.ts'
import { hex } from '../wire/messages.ts'

describe('strings', () => {
  test('are escaped so that a line stays a line', () => {
    assert.equal(formatString(hex('0a 1f 22 5c 20 7e 7f ff')), '"\\010\\031\\"\\\\ ~\\127\\255"')
  })

  test('parse back from text', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        assert.deepEqual(parseString(formatString(bytes).slice(1, -1)), bytes)
      }),
    )
  })

  const cases: { name: string; text: string; wire: string | undefined }[] = [
    { name: 'take any character after a backslash', text: '\\a\\.\\ ', wire: '612e20' },
    { name: 'take characters up to U+00FF as bytes', text: 'ÿ', wire: 'ff' },
    { name: 'refuse characters over U+00FF', text: '\u0100', wire: undefined },
    { name: 'refuse such a character after a backslash', text: '\\\u0100', wire: undefined },
    { name: 'refuse a backslash at the end', text: 'a\\', wire: undefined },
    { name: 'refuse two digits after a backslash', text: '\\12', wire: undefined },
    { name: 'refuse \\DDD over 255', text: '\\300', wire: undefined },
  ]
  for (const { name, text, wire } of cases) {
    test(name, () => {
      assert.deepEqual(parseString(text), wire === undefined ? undefined : hex(wire))
    })
  }
})
