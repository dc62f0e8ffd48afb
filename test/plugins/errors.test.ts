import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { block, directive, problemsOf, serve } from '../ask.ts'

const CLUSTER = { objects: '[]' }

describe('errors', () => {
  test('logs why a query failed, the name as it was asked', async () => {
    const server = serve(block('errors'))
    await server.ask('WWW.example.org AAAA')
    assert.deepEqual(server.host.events, [
      {
        level: 'error',
        message: 'no plugin of the server block has an answer',
        plugin: 'errors',
        rcode: 'SERVFAIL',
        name: 'WWW.example.org.',
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
      name: 'logs nothing when it is not there',
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
        upstream: () => ['SERVFAIL ra'],
      })
      await server.ask(ask)
      assert.equal(server.host.events.length, count)
    })
  }

  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'takes no argument',
      directives: ['errors stdout'],
      problem: 'Corefile:2:10: "errors" takes no argument, got "stdout"',
    },
    {
      name: 'knows no other option than stacktrace',
      directives: [directive('errors', 'consolidate 5m ".*"')],
      problem: 'Corefile:3:5: "errors" has no option "consolidate"; it has stacktrace',
    },
    {
      name: 'stands once in a block',
      directives: ['errors', 'errors'],
      problem: 'Corefile:3:3: "errors" stands twice in this server block, once is allowed',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
