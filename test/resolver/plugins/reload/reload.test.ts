import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

describe('reload', () => {
  const cases: { name: string; line: string; intervalMs: number; jitterMs: number }[] = [
    {
      name: 'looks every 30 s, give or take 15 s',
      line: 'reload',
      intervalMs: 30e3,
      jitterMs: 15e3,
    },
    {
      name: 'halves the interval for a jitter',
      line: 'reload 10s',
      intervalMs: 10e3,
      jitterMs: 5e3,
    },
    { name: 'takes both', line: 'reload 1m 10s', intervalMs: 60e3, jitterMs: 10e3 },
    { name: 'bounds the jitter by half', line: 'reload 2s 10s', intervalMs: 2e3, jitterMs: 1e3 },
    { name: 'does without jitter', line: 'reload 30s 0s', intervalMs: 30e3, jitterMs: 0 },
  ]
  for (const { name, line, intervalMs, jitterMs } of cases) {
    test(name, () => {
      const { features } = serve(block(line)).resolver
      assert.deepEqual(features, [{ kind: 'reload', intervalMs, jitterMs }])
    })
  }

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'does not look more often than every 2 s',
      directives: ['reload 1999ms'],
      problem: 'Corefile:2:10: "1999ms" is too short; the minimum is 2s',
    },
    {
      name: 'has no jitter between 0 and 1 s',
      directives: ['reload 30s 999ms'],
      problem: 'Corefile:2:14: "999ms" is too short; the minimum is 1s',
    },
    {
      name: 'wants durations',
      directives: ['reload 30'],
      problem: 'Corefile:2:10: "30" is not a duration such as 30s, 1m30s or 500ms',
    },
    {
      name: 'takes two arguments',
      directives: ['reload 30s 15s 5s'],
      problem: 'Corefile:2:18: "reload" takes at most 2 argument(s), got "5s"',
    },
    {
      name: 'takes no options',
      directives: [directive('reload', 'interval 30s')],
      problem: 'Corefile:3:5: "reload" has no options; remove "interval"',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
