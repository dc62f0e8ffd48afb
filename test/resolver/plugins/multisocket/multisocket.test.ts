import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatProblem } from '../../../../src/corefile/problem.ts'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

describe('multisocket', () => {
  for (const line of ['multisocket', 'multisocket 1024']) {
    test(`changes nothing, and says so: ${line}`, () => {
      assert.deepEqual(serve(block(line, 'whoami')).resolver.notices.map(formatProblem), [
        'Corefile:2:3: "multisocket" has no effect: one process answers on one socket',
      ])
    })
  }

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'takes a number of sockets',
      directives: ['multisocket many'],
      problem: 'Corefile:2:15: "many" is not a number from 1 to 1024',
    },
    {
      name: 'takes one socket at least',
      directives: ['multisocket 0'],
      problem: 'Corefile:2:15: "0" is not a number from 1 to 1024',
    },
    {
      name: 'takes no more than that',
      directives: ['multisocket 1 2'],
      problem: 'Corefile:2:17: "multisocket" takes at most 1 argument(s), got "2"',
    },
    {
      name: 'takes no options',
      directives: [directive('multisocket', 'x')],
      problem: 'Corefile:3:5: "multisocket" has no options; remove "x"',
    },
    {
      name: 'may appear once in a block',
      directives: ['multisocket', 'multisocket'],
      problem: 'Corefile:3:3: "multisocket" appears twice in this server block; remove one',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
