import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { escapeControls, formatExplanation } from '../../src/cli/explanation-text.ts'

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

test('formatExplanation prints no character that a terminal would interpret', () => {
  const hostile = '\x1b]0;x\x07\u202e<b>'
  const text = formatExplanation({
    status: 'NXDOMAIN',
    records: [{ section: 'answer', record: hostile, object: hostile, rule: hostile }],
    reason: { text: hostile, didYouMean: [hostile] },
    serverBlock: hostile,
    plugins: [hostile],
    facts: [{ plugin: hostile, zone: hostile, node: { object: hostile, rivals: [hostile] } }],
    view: { clusters: [hostile] },
  })
  assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u)
  assert.match(text, /did you mean {2}\\u\{1b\}/)
})
