import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { CommandError } from '../../../src/server/node/output.ts'
import { printRefused, printUnreadable } from '../../../src/server/serve/reload-lines.ts'

describe('the lines of a reload', () => {
  const CASES = [
    { name: 'have the reason', reason: 'no "errors" here', out: 'no "errors" here' },
    { name: 'join several problems', reason: 'A:1: one\nA:2: two', out: 'A:1: one; A:2: two' },
    { name: 'escape control characters', reason: 'a\u001b[31m', out: 'a\\u{1b}[31m' },
  ]
  for (const { name, reason, out } of CASES) {
    test(name, () => {
      const lines: string[] = []
      const error = new CommandError(reason)
      printUnreadable((line) => lines.push(line), error)
      printRefused((line) => lines.push(line), error)
      assert.deepEqual(lines, [
        `[WARNING] plugin/reload: Corefile parse failed: ${out}`,
        `[ERROR] Restart failed: ${out}`,
        `[ERROR] plugin/reload: Corefile changed but reload failed: ${out}`,
      ])
    })
  }
})
