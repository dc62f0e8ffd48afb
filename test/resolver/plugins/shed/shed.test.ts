import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatProblem } from '../../../../src/corefile/problem.ts'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

describe('shed', () => {
  test('changes nothing, and says so', () => {
    assert.deepEqual(serve(block('shed', 'whoami')).resolver.notices.map(formatProblem), [
      'Corefile:2:3: "shed" has no effect: the system drops excess queries',
    ])
  })

  const problems: { name: string; corefile: string; problem: string }[] = [
    {
      name: 'takes no argument',
      corefile: block('shed x'),
      problem: 'Corefile:2:8: "shed" takes no arguments, got "x"',
    },
    {
      name: 'takes no options',
      corefile: block(directive('shed', 'x')),
      problem: 'Corefile:3:5: "shed" has no options; remove "x"',
    },
    {
      name: 'may appear once in a block',
      corefile: block('shed', 'shed'),
      problem: 'Corefile:3:3: "shed" appears twice in this server block; remove one',
    },
    {
      name: 'is for plain DNS',
      corefile: 'https://. {\n  shed\n}',
      problem: 'Corefile:2:3: "shed" is for plain DNS, and this block has https://',
    },
  ]
  for (const { name, corefile, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(corefile), [problem])
    })
  }
})
