import assert from 'node:assert/strict'
import { test } from 'vitest'
import { formatExplanation } from '../../../src/cli/explain/explanation-text.ts'

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
