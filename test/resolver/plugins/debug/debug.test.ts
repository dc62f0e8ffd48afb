import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatProblem } from '../../../../src/corefile/problem.ts'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

describe('debug', () => {
  test('changes nothing, and says so', async () => {
    const server = serve(block('debug', 'debug', directive('hosts none', '192.0.2.1 a.test')))
    assert.deepEqual(await server.ask('a.test A'), ['NOERROR aa rd', 'a.test. 3600 IN A 192.0.2.1'])
    assert.deepEqual(server.resolver.notices.map(formatProblem), [
      'Corefile:2:3: "debug" only enables the debug level of "errors": failures are always logged in full',
    ])
  })

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'takes no argument',
      directives: ['debug off'],
      problem: 'Corefile:2:9: "debug" takes no arguments, got "off"',
    },
    {
      name: 'takes no options',
      directives: ['debug', directive('debug', 'x')],
      problem: 'Corefile:4:5: "debug" has no options; remove "x"',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
