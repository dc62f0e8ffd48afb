import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { block, directive, problemsOf, serve } from '../ask.ts'

describe('bind', () => {
  test('asks for addresses and interfaces, less those that are excepted', () => {
    const corefile = block(directive('bind 192.0.2.1 eth0', 'except 192.0.2.2 lo', 'except ::1'))
    assert.deepEqual(serve(corefile).resolver.features, [
      { kind: 'bind', addresses: ['192.0.2.1', 'eth0'], except: ['192.0.2.2', 'lo', '::1'] },
    ])
  })

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'needs an address',
      directives: ['bind'],
      problem: 'Corefile:2:3: "bind" needs an address or an interface',
    },
    {
      name: 'knows no other option than except',
      directives: [directive('bind 192.0.2.1', 'expect 192.0.2.2')],
      problem: 'Corefile:3:5: "bind" has no option "expect"; did you mean "except"?',
    },
    {
      name: 'excepts something',
      directives: [directive('bind 192.0.2.1', 'except')],
      problem: 'Corefile:3:5: "except" takes 1 or more argument(s), got 0',
    },
    {
      name: 'stands once in a block',
      directives: ['bind 192.0.2.1', 'bind 192.0.2.2'],
      problem: 'Corefile:3:3: "bind" stands twice in this server block, once is allowed',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
