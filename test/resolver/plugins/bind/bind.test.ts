import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

describe('bind', () => {
  test('asks for addresses and interfaces, less those that are excepted', () => {
    const corefile = block(directive('bind 192.0.2.1 eth0', 'except 192.0.2.2 lo', 'except ::1'))
    assert.deepEqual(serve(corefile).resolver.features, [
      { kind: 'bind', addresses: ['192.0.2.1', 'eth0'], except: ['192.0.2.2', 'lo', '::1'] },
    ])
  })

  test('adds up, each directive less its own exceptions', () => {
    const corefile = block(directive('bind eth0', 'except 192.0.2.1'), 'bind 192.0.2.1')
    const places = serve(corefile).resolver.listeners.map(({ addresses, except }) => ({
      addresses,
      except,
    }))
    assert.deepEqual(places, [
      { addresses: ['eth0'], except: ['192.0.2.1'] },
      { addresses: ['192.0.2.1'], except: [] },
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
      name: 'binds no address twice',
      directives: ['bind 192.0.2.1', 'bind 192.0.2.1'],
      problem: 'Corefile:1:1: zone "." is served at port 53 already (line 1)',
    },
    {
      name: 'refuses an interface that the machine does not have',
      directives: ['bind 192.0.2.1 nope0'],
      problem: 'Corefile:2:18: "nope0" is neither an address nor an interface of this machine',
    },
    {
      name: 'excepts no interface that the machine does not have',
      directives: [directive('bind eth0', 'except nope1')],
      problem: 'Corefile:3:12: "nope1" is neither an address nor an interface of this machine',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
