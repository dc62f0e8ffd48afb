import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { block, directive, problemsOf, serve } from '../ask.ts'

describe('ready', () => {
  const cases: { name: string; line: string; address: string }[] = [
    { name: 'is on port 8181', line: 'ready', address: ':8181' },
    { name: 'is where it says', line: 'ready 192.0.2.1:81', address: '192.0.2.1:81' },
  ]
  for (const { name, line, address } of cases) {
    test(name, () => {
      assert.deepEqual(serve(block(line)).resolver.features, [{ kind: 'ready', address }])
    })
  }

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'is at one address',
      directives: ['ready :8181 :8182'],
      problem: 'Corefile:2:15: "ready" takes at most 1, got ":8182"',
    },
    {
      name: 'takes no options',
      directives: [directive('ready', 'monitor until-ready')],
      problem: 'Corefile:3:5: "ready" has no option "monitor", nor any other',
    },
    {
      name: 'stands once in a block',
      directives: ['ready', 'ready'],
      problem: 'Corefile:3:3: "ready" stands twice in this server block, once is allowed',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
