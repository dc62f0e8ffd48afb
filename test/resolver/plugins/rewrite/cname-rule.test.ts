import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { problemsOfRule, type Replies, serveRules } from './rules.ts'

/** An alias that leads by way of a network of caches to an address. */
const DIRECT: Replies = {
  'www.a.org. IN A rd': [
    'NOERROR ra',
    'www.a.org. 60 IN CNAME www.a.org.cdn.net.',
    'www.a.org.cdn.net. 50 IN CNAME x.cdn.net.',
    'x.cdn.net. 40 IN A 192.0.2.1',
    'authority: cdn.net. 30 IN NS ns.cdn.net.',
  ],
}

describe('rules for CNAME records', () => {
  const cases: {
    name: string
    rules: string[]
    ask?: string
    upstream?: Replies
    reply: string[]
  }[] = [
    {
      name: 'answer with what the new target has',
      rules: ['cname exact x.cdn.net y.other.net'],
      upstream: { 'y.other.net. IN A rd': ['NOERROR ra', 'y.other.net. 9 IN A 192.0.2.9'] },
      reply: [
        'NOERROR rd ra',
        'www.a.org. 60 IN CNAME www.a.org.cdn.net.',
        'www.a.org.cdn.net. 50 IN CNAME y.other.net.',
        'y.other.net. 9 IN A 192.0.2.9',
        'authority: cdn.net. 30 IN NS ns.cdn.net.',
      ],
    },
    {
      name: 'query with the EDNS that the client has',
      rules: ['cname exact x.cdn.net y.other.net'],
      ask: 'www.a.org A +do',
      upstream: {
        'www.a.org. IN A rd edns=1232 do': DIRECT['www.a.org. IN A rd'] ?? [],
        'y.other.net. IN A rd edns=1232 do': ['NOERROR ra', 'y.other.net. 9 IN A 192.0.2.9'],
      },
      reply: [
        'NOERROR rd ra',
        'www.a.org. 60 IN CNAME www.a.org.cdn.net.',
        'www.a.org.cdn.net. 50 IN CNAME y.other.net.',
        'y.other.net. 9 IN A 192.0.2.9',
        'authority: cdn.net. 30 IN NS ns.cdn.net.',
        'edns: 1232 do',
      ],
    },
    {
      name: 'match the whole target when they do not say how',
      rules: ['cname X.cdn.net. y.other.net.'],
      upstream: { 'y.other.net. IN A rd': ['NOERROR ra', 'y.other.net. 9 IN A 192.0.2.9'] },
      reply: [
        'NOERROR rd ra',
        'www.a.org. 60 IN CNAME www.a.org.cdn.net.',
        'www.a.org.cdn.net. 50 IN CNAME y.other.net.',
        'y.other.net. 9 IN A 192.0.2.9',
        'authority: cdn.net. 30 IN NS ns.cdn.net.',
      ],
    },
    {
      name: 'look at CNAMEs that are gone as well',
      rules: ['cname suffix .cdn.net. .other.net.'],
      upstream: {
        'www.a.org.other.net. IN A rd': ['NOERROR ra', 'www.a.org.other.net. 9 IN A 192.0.2.9'],
        'x.other.net. IN A rd': ['NOERROR ra', 'x.other.net. 9 IN A 192.0.2.8'],
      },
      reply: [
        'NOERROR rd ra',
        'www.a.org. 60 IN CNAME www.a.org.other.net.',
        'x.other.net. 9 IN A 192.0.2.8',
        'authority: cdn.net. 30 IN NS ns.cdn.net.',
      ],
    },
    {
      name: 'change the beginning of targets',
      rules: ['cname prefix x. y.other.'],
      upstream: { 'y.other.cdn.net. IN A rd': ['NOERROR tc', 'y.other.cdn.net. 9 IN A 192.0.2.9'] },
      reply: [
        'NOERROR tc rd ra',
        'www.a.org. 60 IN CNAME www.a.org.cdn.net.',
        'www.a.org.cdn.net. 50 IN CNAME y.other.cdn.net.',
        'y.other.cdn.net. 9 IN A 192.0.2.9',
        'authority: cdn.net. 30 IN NS ns.cdn.net.',
      ],
    },
    {
      name: 'change what is within targets, by an expression with groups',
      rules: ['cname regex (X)\\.cdn\\.(.*) {2}{1}'],
      upstream: { 'net.x. IN A rd': ['NXDOMAIN ra'] },
      reply: [
        'NOERROR rd ra',
        'www.a.org. 60 IN CNAME www.a.org.cdn.net.',
        'www.a.org.cdn.net. 50 IN CNAME net.x.',
        'authority: cdn.net. 30 IN NS ns.cdn.net.',
      ],
    },
    {
      name: 'keep the CNAME when its new target is unavailable',
      rules: ['cname substring x.c y.c'],
      reply: [
        'NOERROR rd ra',
        'www.a.org. 60 IN CNAME www.a.org.cdn.net.',
        'www.a.org.cdn.net. 50 IN CNAME y.cdn.net.',
        'authority: cdn.net. 30 IN NS ns.cdn.net.',
      ],
    },
    {
      name: 'leave other targets alone',
      rules: ['cname exact cdn.net y.other.net'],
      reply: (DIRECT['www.a.org. IN A rd'] ?? []).with(0, 'NOERROR rd ra'),
    },
    {
      name: 'do nothing without names',
      rules: ['cname suffix "" y.other.net'],
      reply: (DIRECT['www.a.org. IN A rd'] ?? []).with(0, 'NOERROR rd ra'),
    },
    {
      name: 'fail when a target would be no name',
      rules: ['cname suffix x.cdn.net. a..b.'],
      reply: ['SERVFAIL rd'],
    },
    {
      name: 'request the type of the query for after all other rules',
      rules: ['continue cname x.cdn.net y.other.net', 'continue type TXT A'],
      upstream: { 'y.other.net. IN A rd': ['NOERROR ra', 'y.other.net. 9 IN A 192.0.2.9'] },
      reply: [
        'NOERROR rd ra',
        'www.a.org. 60 IN CNAME www.a.org.cdn.net.',
        'www.a.org.cdn.net. 50 IN CNAME y.other.net.',
        'y.other.net. 9 IN A 192.0.2.9',
        'authority: cdn.net. 30 IN NS ns.cdn.net.',
      ],
    },
  ]
  for (const { name, rules, ask, upstream, reply } of cases) {
    test(name, async () => {
      const server = serveRules(rules, { ...DIRECT, ...upstream })
      const type = rules.length > 1 ? 'TXT' : 'A'
      assert.deepEqual(await server.ask(ask ?? `www.a.org ${type}`), reply)
    })
  }

  test('end where they point to themselves', async () => {
    const upstream = ['NOERROR ra', 'a.org. 60 IN CNAME a.org.']
    const server = serveRules(['cname a.org a.org'], { 'a.org. IN A rd': upstream })
    const reply = await server.ask('a.org A')
    assert.equal(reply[0], 'NOERROR rd ra')
    assert.ok(server.host.asked.length < 20)
  })

  const problems: { name: string; rule: string; problem: string }[] = [
    {
      name: 'have two names',
      rule: 'cname a',
      problem: '11: a CNAME rule takes two names, FROM and TO',
    },
    {
      name: 'have nothing else',
      rule: 'cname exact a b c',
      problem: '27: a CNAME rule takes two names, FROM and TO',
    },
    {
      name: 'match in five ways',
      rule: 'cname glob a b',
      problem: '17: "glob" is not a kind of match: exact, prefix, suffix, substring, regex',
    },
  ]
  for (const { name, rule, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOfRule(rule), [`Corefile:2:${problem}`])
    })
  }
})
