import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, type Server, serve } from '../../../ask.ts'

const CLUSTER = { objects: '[]' }

describe('errors', () => {
  test('logs why a query failed, the name in lower case', async () => {
    const server = serve(block('errors'))
    await server.ask('WWW.example.org AAAA')
    assert.deepEqual(server.host.events, [
      {
        level: 'error',
        message: 'no plugin of the server block has an answer',
        plugin: 'errors',
        rcode: 'SERVFAIL',
        name: 'www.example.org.',
        type: 'AAAA',
      },
    ])
  })

  const cases: { name: string; directives: string[]; ask: string; count: number }[] = [
    {
      name: 'logs with the option stacktrace just the same',
      directives: [directive('errors', 'stacktrace')],
      ask: 'www.example.org A',
      count: 1,
    },
    {
      name: 'logs nothing when it is missing',
      directives: ['loadbalance'],
      ask: 'www.example.org A',
      count: 0,
    },
    {
      name: 'does not log that a name does not exist',
      directives: ['errors', 'kubernetes cluster.local'],
      ask: 'nosuch.cluster.local A',
      count: 0,
    },
    {
      name: 'does not log that the hosts file has no such name',
      directives: ['errors', 'hosts none'],
      ask: 'www.example.org A',
      count: 0,
    },
    {
      name: 'does not log what was refused on purpose',
      directives: ['errors', 'kubernetes cluster.local'],
      ask: 'cluster.local AXFR +tcp',
      count: 0,
    },
    {
      name: 'does not log what an upstream answered',
      directives: ['errors', 'forward . 192.0.2.53'],
      ask: 'www.example.org A',
      count: 0,
    },
  ]
  for (const { name, directives, ask, count } of cases) {
    test(name, async () => {
      const server = serve(block(...directives), {
        cluster: CLUSTER,
        files: { none: '' },
        upstream: () => ['SERVFAIL ra'],
      })
      await server.ask(ask)
      assert.equal(server.host.events.length, count)
    })
  }

  const REASON = 'no plugin of the server block has an answer'
  const ALIKE = `2 errors like '^no plugin' occurred in last 5m`

  /**
   * What is logged of some failures, one minute after another, and at the end: level and message.
   */
  async function logOf(option: string, count: number): Promise<string[]> {
    const { host, resolver, ...server } = await failing(option, count)
    resolver.stop()
    assert.equal(host.timerCount, 0)
    return server.events()
  }

  async function failing(
    option: string,
    count: number,
  ): Promise<Pick<Server, 'host' | 'resolver'> & { readonly events: () => string[] }> {
    const server = serve(block(directive('errors', option)))
    for (let i = 0; i < count; i++) {
      await server.ask('www.example.org A')
      await server.host.advance(60_000)
    }
    const { host, resolver } = server
    const events = (): string[] => host.events.map(({ level, message }) => `${level} ${message}`)
    return { host, resolver, events }
  }

  const consolidated: { name: string; option: string; count: number; events: string[] }[] = [
    {
      name: 'logs errors that are alike together',
      option: 'consolidate 5m "^no plugin"',
      count: 2,
      events: [`error ${ALIKE}`],
    },
    {
      name: 'logs them at another level',
      option: 'consolidate 5m "^no plugin" warning',
      count: 2,
      events: [`warning ${ALIKE}`],
    },
    {
      name: 'logs the first as it comes, at the level of its kind',
      option: 'consolidate 5m "^no plugin" info show_first',
      count: 2,
      events: [`info ${REASON}`, `info ${ALIKE}`],
    },
    {
      name: 'says nothing more of the first if it was the only one',
      option: 'consolidate 5m "^no plugin" show_first',
      count: 1,
      events: [`error ${REASON}`],
    },
    {
      name: 'begins again after the period',
      option: 'consolidate 3m "^no plugin"',
      count: 6,
      events: [3, 3].map((n) => `error ${n} errors like '^no plugin' occurred in last 3m`),
    },
    {
      name: 'logs other errors one by one',
      option: 'consolidate 5m "i/o timeout$"',
      count: 2,
      events: [`error ${REASON}`, `error ${REASON}`],
    },
  ]
  for (const { name, option, count, events } of consolidated) {
    test(name, async () => {
      assert.deepEqual(await logOf(option, count), events)
    })
  }

  test('goes by the first expression that matches', async () => {
    const lines = ['consolidate 5m "no plugin" warning', 'consolidate 1m ".*"']
    const server = serve(block(directive('errors', ...lines)))
    await server.ask('www.example.org A')
    await server.host.advance(300_000)
    assert.deepEqual(
      server.host.events.map(({ level, message }) => [level, message]),
      [['warning', "1 errors like 'no plugin' occurred in last 5m"]],
    )
  })

  for (const { debug, count } of [
    { debug: [], count: 0 },
    { debug: ['debug'], count: 1 },
  ]) {
    test(`logs ${count} of what it is to log for who looks for mistakes`, async () => {
      const errors = directive('errors', 'consolidate 5m .* debug show_first')
      const server = serve(block(errors, ...debug))
      await server.ask('www.example.org A')
      assert.equal(server.host.events.length, count)
    })
  }

  test('logs every error by itself once it is stopped', async () => {
    const server = serve(block(directive('errors', 'consolidate 5m ".*"')))
    server.resolver.stop()
    await server.ask('www.example.org A')
    assert.deepEqual(
      server.host.events.map(({ message }) => message),
      [REASON],
    )
  })

  test('accepts the output of errors', () => {
    assert.deepEqual(problemsOf(block('errors stdout')), [])
  })

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'writes to no file',
      directives: ['errors stderr'],
      problem: '2:10: "errors" logs to "stdout" only, got "stderr"',
    },
    {
      name: 'has two options',
      directives: [directive('errors', 'collect')],
      problem: '3:5: "errors" has no option "collect"; it has stacktrace, consolidate',
    },
    {
      name: 'may appear once in a block',
      directives: ['errors', 'errors'],
      problem: '3:3: "errors" appears twice in this server block; remove one',
    },
    {
      name: 'needs an expression',
      directives: [directive('errors', 'consolidate 5m')],
      problem: '3:5: "consolidate" takes 2 to 4 argument(s), got 1',
    },
    {
      name: 'needs a period',
      directives: [directive('errors', 'consolidate often .*')],
      problem: '3:17: "often" is not a duration such as 30s, 1m30s or 500ms',
    },
    {
      name: 'knows levels',
      directives: [directive('errors', 'consolidate 5m .* fatal')],
      problem: '3:23: "fatal" is neither one of warning, error, info, debug nor "show_first"',
    },
    {
      name: 'has one level for a kind',
      directives: [directive('errors', 'consolidate 5m .* info error')],
      problem: '3:28: the level is "info" already',
    },
    {
      name: 'has the level first',
      directives: [directive('errors', 'consolidate 5m .* show_first info')],
      problem: '3:34: "info" must come before "show_first"',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [`Corefile:${problem}`])
    })
  }

  test('refuses what is no expression', () => {
    const [problem = ''] = problemsOf(block(directive('errors', 'consolidate 5m (')))
    assert.match(problem, /^Corefile:3:20: "\(" is not a regular expression: /)
  })
})
