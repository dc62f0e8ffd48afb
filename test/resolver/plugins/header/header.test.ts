import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatProblem } from '../../../../src/corefile/problem.ts'
import { block, directive, problemsOf, serve } from '../../../ask.ts'
import { formatReply, parseQuestion } from '../../../message-text.ts'
import { ResolverClient } from '../../../resolver-client.ts'

const HOSTS = directive('hosts none', '192.0.2.1 a.test', 'fallthrough')
const A = 'a.test. 3600 IN A 192.0.2.1'

describe('header', () => {
  const cases: { name: string; lines: string[]; ask?: string; reply: string[] }[] = [
    {
      name: 'sets flags of replies',
      lines: ['response set ra'],
      reply: ['NOERROR aa rd ra', A],
    },
    {
      name: 'clears flags of replies',
      lines: ['response clear aa rd'],
      reply: ['NOERROR', A],
    },
    {
      name: 'minds the last word on a flag, and no letter case',
      lines: ['Response SET AA ra', 'response Clear aa', 'response clear RA', 'response set ra'],
      reply: ['NOERROR rd ra', A],
    },
    {
      name: 'clears RD for the plugins after it, whose replies have it so too',
      lines: ['query clear rd'],
      reply: ['NOERROR aa', A],
    },
    {
      name: 'sets RD in a query without',
      lines: ['query set rd'],
      ask: 'a.test A +nord +cd',
      reply: ['NOERROR aa rd cd', A],
    },
    {
      name: 'has a reply’s RD different from the query’s',
      lines: ['query clear rd', 'response set rd'],
      reply: ['NOERROR aa rd', A],
    },
    {
      name: 'leaves failures as the query has it',
      lines: ['response set aa ra', 'response clear rd'],
      ask: 'b.test A',
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'changes RD of failures when it does so in the query',
      lines: ['query clear rd', 'response set rd'],
      ask: 'b.test A',
      reply: ['SERVFAIL'],
    },
    {
      name: 'does nothing about AA and RA of a query',
      lines: ['query set aa ra'],
      ask: 'b.test A',
      reply: ['SERVFAIL rd'],
    },
  ]
  for (const { name, lines, ask = 'a.test A', reply } of cases) {
    test(name, async () => {
      const server = serve(block(directive('header', ...lines), HOSTS))
      assert.deepEqual(await server.ask(ask), reply)
    })
  }

  test('asks upstreams without RD', async () => {
    const server = serve(block(directive('header', 'query clear rd'), 'forward . 192.0.2.53'), {
      upstream: { 'a.test. IN A': ['NOERROR ra', A] },
    })
    assert.deepEqual(await server.ask('a.test A'), ['NOERROR ra', A])
  })

  test('has no say in what comes from the cache', async () => {
    const header = directive('header', 'response set ra', 'query clear rd')
    const server = serve(block('cache', header, HOSTS))
    assert.deepEqual(await server.ask('a.test A'), ['NOERROR aa ra', A])
    assert.deepEqual(await server.ask('a.test A'), ['NOERROR aa rd ra', A])
  })

  test('changes fast responses like others', async () => {
    const header = directive('header', 'response set ra', 'response clear aa', 'query clear rd')
    const objects = '- { apiVersion: v1, kind: Namespace, metadata: { name: default } }'
    const { resolver } = serve(block(header, 'kubernetes c.test'), { cluster: { objects } })
    for (const name of ['default.svc.c.test', 'nosuch.svc.c.test']) {
      const { message } = parseQuestion(`${name} A +cd`)
      const client = { address: '192.0.2.7', port: 7, transport: 'udp' } as const
      const { fast, slow } = await new ResolverClient(resolver, client).bothWays(message)
      assert.ok(fast)
      assert.deepEqual(fast, slow)
      assert.match(formatReply(fast)[0] ?? '', /^(NOERROR|NXDOMAIN) ra cd$/)
    }
  })

  test('counts once, and says so', async () => {
    const lines = ['response set ra', 'response clear aa'].map((line) => directive('header', line))
    const server = serve(block(...lines, HOSTS))
    assert.deepEqual(await server.ask('a.test A'), ['NOERROR aa rd ra', A])
    assert.deepEqual(server.resolver.notices.map(formatProblem), [
      'Corefile:5:3: only the first "header" of a block takes effect; remove this one',
    ])
  })
})

describe('options of header', () => {
  const problems: { name: string; directives: string[]; problem: string }[] = [
    {
      name: 'are needed',
      directives: ['header'],
      problem: 'Corefile:2:3: "header" needs a line such as "response set ra" in braces',
    },
    {
      name: 'are all there is',
      directives: [directive('header x', 'response set ra')],
      problem: 'Corefile:2:10: "header" takes no arguments, got "x"',
    },
    {
      name: 'are about queries or responses',
      directives: [directive('header', 'respond set ra')],
      problem: 'Corefile:3:5: "header" has no option "respond"; did you mean "response"?',
    },
    {
      name: 'set or clear',
      directives: [directive('header', 'query toggle rd')],
      problem: 'Corefile:3:11: "query" needs "set" or "clear" and flags',
    },
    {
      name: 'say what to do',
      directives: [directive('header', 'query')],
      problem: 'Corefile:3:5: "query" needs "set" or "clear" and flags',
    },
    {
      name: 'name flags',
      directives: [directive('header', 'query set')],
      problem: 'Corefile:3:11: "set" needs a flag: aa, ra or rd',
    },
    {
      name: 'name flags that can be changed',
      directives: [directive('header', 'response set ra tc')],
      problem: 'Corefile:3:21: "tc" is not a flag that can be changed: aa, ra or rd',
    },
  ]
  for (const { name, directives, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...directives)), [problem])
    })
  }
})
