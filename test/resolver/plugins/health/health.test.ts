import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

describe('health', () => {
  const cases: { name: string; line: string; address: string; lameduckMs: number }[] = [
    { name: 'is on port 8080', line: 'health', address: ':8080', lameduckMs: 0 },
    {
      name: 'is where it says',
      line: 'health 192.0.2.1:8081',
      address: '192.0.2.1:8081',
      lameduckMs: 0,
    },
    {
      name: 'is as the last of several says',
      line: `${directive('health :8081', 'lameduck 5s')}\n  health [::1]:8082`,
      address: '[::1]:8082',
      lameduckMs: 5000,
    },
    {
      name: 'continues for a while after the end',
      line: directive('health', 'lameduck 1m5s'),
      address: ':8080',
      lameduckMs: 65_000,
    },
  ]
  for (const { name, line, address, lameduckMs } of cases) {
    test(name, () => {
      const { features } = serve(block(line)).resolver
      assert.deepEqual(features, [{ kind: 'health', address, lameduckMs }])
    })
  }

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'is at one address',
      directives: ['health :8080 :8081'],
      problem: 'Corefile:2:16: "health" takes at most 1 argument(s), got ":8081"',
    },
    {
      name: 'needs to know how long lameduck is',
      directives: [directive('health', 'lameduck')],
      problem: 'Corefile:3:5: "lameduck" takes 1 argument(s), got 0',
    },
    {
      name: 'wants a unit with a duration',
      directives: [directive('health', 'lameduck 5')],
      problem: 'Corefile:3:14: "5" is not a duration such as 30s, 1m30s or 500ms',
    },
    {
      name: 'knows no other option than lameduck',
      directives: [directive('health', 'lameduk 5s')],
      problem: 'Corefile:3:5: "health" has no option "lameduk"; did you mean "lameduck"?',
    },
    {
      name: 'has a port',
      directives: ['health 192.0.2.1'],
      problem: 'Corefile:2:10: "192.0.2.1" is neither HOST:PORT nor :PORT',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
