import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, serve } from '../../../ask.ts'

const A = 'a.test. 60 IN A 192.0.2.1'

describe('cancel', () => {
  const cases: { name: string; directives: string[]; waitMs: number; reply: string[] }[] = [
    {
      name: 'ends a query that takes too long',
      directives: ['cancel 1s'],
      waitMs: 1000,
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'leaves a query the time that it has',
      directives: ['cancel 1s'],
      waitMs: 999,
      reply: ['NOERROR rd ra', A],
    },
    {
      name: 'counts as it is last',
      directives: ['cancel 1ms', 'cancel 1s'],
      waitMs: 999,
      reply: ['NOERROR rd ra', A],
    },
    {
      name: 'leaves more than a second when it says no time',
      directives: ['cancel'],
      waitMs: 1500,
      reply: ['NOERROR rd ra', A],
    },
  ]
  for (const { name, directives, waitMs, reply } of cases) {
    test(name, async () => {
      const late = Promise.withResolvers<string[]>()
      const server = serve(block(...directives, 'forward . 192.0.2.53'), {
        upstream: () => late.promise,
      })
      const asked = server.ask('a.test A')
      await server.host.advance(waitMs)
      late.resolve(['NOERROR ra', A])
      assert.deepEqual(await asked, reply)
      await server.host.advance(0)
      assert.equal(server.host.timerCount, 0)
    })
  }

  test('has nothing to do with answers that are at hand', async () => {
    const server = serve(block('cancel', directive('hosts none', '192.0.2.1 a.test')))
    assert.deepEqual((await server.ask('a.test A'))[0], 'NOERROR aa rd')
    assert.equal(server.host.timerCount, 0)
  })

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'takes a duration',
      directives: ['cancel 5'],
      problem: 'Corefile:2:10: "5" is not a duration such as 30s, 1m30s or 500ms',
    },
    {
      name: 'takes some time',
      directives: ['cancel 0s'],
      problem: 'Corefile:2:10: "0s" is not a positive time-out',
    },
    {
      name: 'takes one duration',
      directives: ['cancel 1s 2s'],
      problem: 'Corefile:2:13: "cancel" takes at most 1 argument(s), got "2s"',
    },
    {
      name: 'takes no options',
      directives: [directive('cancel', 'x')],
      problem: 'Corefile:3:5: "cancel" has no options; remove "x"',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
