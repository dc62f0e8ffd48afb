import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, serve } from '../../../ask.ts'
import { checkRewrite, type RewriteCase } from './rules.ts'

describe('rules of a block', () => {
  const upstream = ['NOERROR ra', 'www.c.org. 60 IN A 192.0.2.1']
  const cases: RewriteCase[] = [
    {
      name: 'end with the first that matches',
      rules: ['name a.org b.org', 'name b.org c.org'],
      ask: 'a.org A',
      asks: 'b.org. IN A rd',
      reply: ['NOERROR rd ra'],
    },
    {
      name: 'go on where it says so, back from the last to the first',
      rules: [
        'continue name suffix .a.org .b.org answer auto',
        'name suffix .x.org .y.org',
        'continue name suffix .b.org .c.org answer auto',
        'continue ttl suffix .c.org 5',
        'continue type A AAAA',
      ],
      ask: 'www.a.org A',
      asks: 'www.c.org. IN AAAA rd',
      upstream: ['NOERROR ra', 'www.c.org. 60 IN AAAA 2001:db8::1'],
      reply: ['NOERROR rd ra', 'www.a.org. 5 IN AAAA 2001:db8::1'],
    },
    {
      name: 'see the name as those before have made it',
      rules: ['continue name suffix .a.org .c.org', 'ttl www.a.org 5', 'ttl www.c.org 6'],
      ask: 'www.a.org A',
      asks: 'www.c.org. IN A rd',
      upstream,
      reply: ['NOERROR rd ra', 'www.c.org. 6 IN A 192.0.2.1'],
    },
    {
      name: 'may make a name and take it back',
      rules: ['continue name www.a.org www.b.org', 'continue name www.b.org www.a.org'],
      ask: 'Www.a.org A',
      asks: 'www.a.org. IN A rd',
      upstream: ['NOERROR ra', 'www.a.org. 60 IN A 192.0.2.1'],
      reply: ['NOERROR rd ra', 'Www.a.org. 60 IN A 192.0.2.1'],
    },
    {
      name: 'leave what they do not match as it was',
      rules: ['name a.org b.org', 'ttl a.org 5', 'rcode a.org 0 3', 'type MX A', 'class CH IN'],
      ask: 'Www.a.org A +edns +do',
      asks: 'Www.a.org. IN A rd edns=1232 do',
      upstream: ['NOERROR ra', 'Www.a.org. 60 IN A 192.0.2.1'],
      reply: ['NOERROR rd ra', 'Www.a.org. 60 IN A 192.0.2.1', 'edns: 1232 do'],
    },
  ]
  for (const one of cases) test(one.name, () => checkRewrite(one))

  test('do not select another server block', async () => {
    const hosts = (address: string): string => `hosts none {\n${address} a.b.org\n}`
    const server = serve(
      `a.org {\nrewrite name suffix a.org a.b.org\n${hosts('192.0.2.1')}\n}\n` +
        `b.org {\n${hosts('192.0.2.2')}\n}`,
    )
    assert.deepEqual((await server.ask('a.org A')).slice(0, 1), ['SERVFAIL rd'])
    assert.deepEqual((await server.ask('a.b.org A')).slice(1), ['a.b.org. 3600 IN A 192.0.2.2'])
  })

  test('leave queries without an answer without one', async () => {
    const server = serve(block('rewrite name a.org b.org', 'acl {\ndrop\n}'))
    assert.deepEqual(await server.ask('a.org A'), [])
  })
})
