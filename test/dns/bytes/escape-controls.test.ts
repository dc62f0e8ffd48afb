import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { escapeControls } from '../../../src/dns/bytes/escape-controls.ts'

describe('escapeControls', () => {
  const cases: [name: string, text: string, escaped: string][] = [
    ['control characters', 'a\x1b[31mb\x07', 'a\\u{1b}[31mb\\u{7}'],
    ['marks of text direction', 'a\u202eb\u2066', 'a\\u{202e}b\\u{2066}'],
    ['line breaks of all kinds', 'a\n\u2028\u2029\x85', 'a\\u{a}\\u{2028}\\u{2029}\\u{85}'],
    ['no letters', 'web.shop → é 猫', 'web.shop → é 猫'],
  ]
  for (const [name, text, escaped] of cases) {
    test(name, () => {
      assert.equal(escapeControls(text), escaped)
    })
  }
})
