import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

describe('ready', () => {
  const cases: { name: string; line: string; address: string; monitor: string }[] = [
    {
      name: 'is on port 8181, until all is ready',
      line: 'ready',
      address: ':8181',
      monitor: 'until-ready',
    },
    {
      name: 'is where it says',
      line: 'ready 192.0.2.1:81',
      address: '192.0.2.1:81',
      monitor: 'until-ready',
    },
    {
      name: 'checks again on request',
      line: directive('ready', 'monitor until-ready', 'monitor continuously'),
      address: ':8181',
      monitor: 'continuously',
    },
  ]
  for (const { name, line, address, monitor } of cases) {
    test(name, () => {
      const { features } = serve(block(line)).resolver
      assert.deepEqual(features, [{ kind: 'ready', address, monitor }])
    })
  }

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'is at one address',
      directives: ['ready :8181 :8182'],
      problem: 'Corefile:2:15: "ready" takes at most 1 argument(s), got ":8182"',
    },
    {
      name: 'has a port',
      directives: ['ready localhost'],
      problem: 'Corefile:2:9: "localhost" is neither HOST:PORT nor :PORT',
    },
    {
      name: 'has one option',
      directives: [directive('ready', 'watch continuously')],
      problem: 'Corefile:3:5: "ready" has no option "watch"; it has monitor',
    },
    {
      name: 'has two ways to look',
      directives: [directive('ready', 'monitor always')],
      problem: 'Corefile:3:13: "always" is not one of until-ready, continuously',
    },
    {
      name: 'may appear once in a block',
      directives: ['ready', 'ready'],
      problem: 'Corefile:3:3: "ready" appears twice in this server block; remove one',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
