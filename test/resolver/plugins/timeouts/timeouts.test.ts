import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { ConnectionBounds } from '../../../../src/resolver/contract/feature.ts'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

describe('timeouts', () => {
  const cases: { name: string; directives: string[]; bounds: ConnectionBounds }[] = [
    {
      name: 'bound what they say and nothing else',
      directives: [directive('timeouts', 'read 2s')],
      bounds: { readMs: 2000 },
    },
    {
      name: 'bound all that there is',
      directives: [
        directive('timeouts', 'read 1m', 'write 1h30m', 'idle 24h', 'maxtcpqueries 128'),
      ],
      bounds: { readMs: 60_000, writeMs: 5_400_000, idleMs: 86_400_000, queriesMax: 128 },
    },
    {
      name: 'take a number for seconds',
      directives: [directive('timeouts', 'idle 60')],
      bounds: { idleMs: 60_000 },
    },
    {
      name: 'may bound queries by nothing',
      directives: [directive('timeouts', 'maxtcpqueries -1')],
      bounds: { queriesMax: Infinity },
    },
    {
      name: 'count as they are last',
      directives: [
        directive('timeouts', 'idle 1s', 'idle 2s', 'read 3s'),
        directive('timeouts', 'read 4s'),
      ],
      bounds: { idleMs: 2000, readMs: 4000 },
    },
    { name: 'are missing when nothing is said', directives: [], bounds: {} },
  ]
  for (const { name, directives, bounds } of cases) {
    test(name, () => {
      const { resolver } = serve(block('whoami', ...directives))
      assert.deepEqual(
        resolver.listeners.map((one) => one.bounds),
        [bounds],
      )
    })
  }

  test('are those of a port, to which every block there adds', () => {
    const { resolver } = serve(
      'a.org {\ntimeouts {\nidle 2s\nread 2s\n}\nwhoami\n}\n' +
        'b.org {\ntimeouts {\nread 5s\n}\nwhoami\n}\nc.org:5353 {\nwhoami\n}\n',
    )
    assert.deepEqual(
      resolver.listeners.map((one) => one.bounds),
      [{ idleMs: 2000, readMs: 5000 }, {}],
    )
  })

  const problems: { name: string; text: string; problem: string }[] = [
    {
      name: 'say something',
      text: 'timeouts',
      problem: '2:3: "timeouts" needs a line such as "idle 30s" in braces',
    },
    {
      name: 'have no argument',
      text: directive('timeouts 5s', 'read 5s'),
      problem: '2:12: "timeouts" takes no arguments, got "5s"',
    },
    {
      name: 'are for three things, and a number',
      text: directive('timeouts', 'raed 5s'),
      problem: '3:5: "timeouts" has no option "raed"; did you mean "read"?',
    },
    {
      name: 'have one value',
      text: directive('timeouts', 'read 5s 6s'),
      problem: '3:5: "read" takes 1 argument(s), got 2',
    },
    {
      name: 'have a value',
      text: directive('timeouts', 'maxtcpqueries'),
      problem: '3:5: "maxtcpqueries" takes 1 argument(s), got 0',
    },
    {
      name: 'are a second at least',
      text: directive('timeouts', 'read 999ms'),
      problem: '3:10: "999ms" is not between 1s and 24h',
    },
    {
      name: 'are a day at most',
      text: directive('timeouts', 'write 86401'),
      problem: '3:11: "86401" is not between 1s and 24h',
    },
    {
      name: 'are durations',
      text: directive('timeouts', 'idle snake'),
      problem: '3:10: "snake" is not a duration such as 30s, 1m30s or 500ms',
    },
    ...['0', '-2', 'snake'].map((count) => ({
      name: `allow some queries, not ${count}`,
      text: directive('timeouts', `maxtcpqueries ${count}`),
      problem: `3:19: "${count}" is not a number from 1 to 9007199254740991`,
    })),
  ]
  for (const { name, text, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(text)), [`Corefile:${problem}`])
    })
  }
})
