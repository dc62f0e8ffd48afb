import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { checkRewrite, problemsOfRule, type RewriteCase, serveRules } from './rules.ts'

const FOUND = ['NOERROR ra', 'www.b.org. 60 IN A 192.0.2.1']

describe('rules for names', () => {
  const cases: RewriteCase[] = [
    {
      name: 'change a name, and always back, when nothing is said of how to match',
      rules: ['name www.a.org www.b.org'],
      ask: 'WWW.A.org A +edns +cd',
      asks: 'www.b.org. IN A rd cd edns=1232',
      upstream: [
        'NOERROR ra',
        'www.b.org. 60 IN CNAME y.www.b.org.',
        'y.www.b.org. 60 IN A 192.0.2.1',
        'authority: b.org. 5 IN NS b.org.',
      ],
      reply: [
        'NOERROR rd ra cd',
        'WWW.A.org. 60 IN CNAME y.WWW.A.org.',
        'y.WWW.A.org. 60 IN A 192.0.2.1',
        'authority: b.org. 5 IN NS b.org.',
        'edns: 1232',
      ],
    },
    {
      name: 'leave other names alone',
      rules: ['name exact www.a.org www.b.org'],
      ask: 'Www.www.a.org A',
      asks: 'Www.www.a.org. IN A rd',
      reply: ['NOERROR rd ra'],
    },
    {
      name: 'change a beginning of whole labels',
      rules: ['name prefix old- www'],
      ask: 'old-.b.org A',
      asks: 'www.b.org. IN A rd',
      upstream: FOUND,
      reply: ['NOERROR rd ra', 'www.b.org. 60 IN A 192.0.2.1'],
    },
    {
      name: 'change a beginning and the answer back',
      rules: ['name prefix old. www. answer auto'],
      ask: 'old.b.org A',
      asks: 'www.b.org. IN A rd',
      upstream: FOUND,
      reply: ['NOERROR rd ra', 'old.b.org. 60 IN A 192.0.2.1'],
    },
    {
      name: 'change an ending, and nothing back unless they say so',
      rules: ['name suffix .a.org .b.org'],
      ask: 'www.a.org A',
      asks: 'www.b.org. IN A rd',
      upstream: FOUND,
      reply: FOUND.with(0, 'NOERROR rd ra'),
    },
    {
      name: 'change an ending back wherever it is',
      rules: ['name suffix .a.org .b.org answer auto'],
      ask: 'www.a.org MX',
      asks: 'www.b.org. IN MX rd',
      upstream: ['NOERROR ra', 'www.b.org. 60 IN MX 5 mail.b.org.', 'www.b.org. 60 IN MX 9 b.org.'],
      reply: ['NOERROR rd ra', 'www.a.org. 60 IN MX 5 mail.a.org.', 'www.a.org. 60 IN MX 9 b.org.'],
    },
    {
      name: 'change text wherever it is in a name, as often as it does',
      rules: ['name substring a.a b. answer auto'],
      ask: 'x.a.a.a.a.org A',
      asks: 'x.b.b.org. IN A rd',
      upstream: ['NOERROR ra', 'x.b.b.org. 60 IN A 192.0.2.1'],
      reply: ['NOERROR rd ra', 'x.a.a.a.a.org. 60 IN A 192.0.2.1'],
    },
    {
      name: 'make names of groups of an expression, which sees names in lower case',
      rules: ['name regex ^(.*)-(eu|us)\\.a\\.org\\.$ {1}.{2}.B.org answer auto'],
      ask: 'X.www-EU.a.org A',
      asks: 'x.www.eu.b.org. IN A rd',
      upstream: ['NOERROR ra', 'x.www.eu.b.org. 60 IN A 192.0.2.1'],
      reply: ['NOERROR rd ra', 'X.www-EU.a.org. 60 IN A 192.0.2.1'],
    },
    {
      name: 'see the final dot',
      rules: ['name regex a\\.org$ b.org'],
      ask: 'www.a.org A',
      asks: 'www.a.org. IN A rd',
      reply: ['NOERROR rd ra'],
    },
  ]
  for (const one of cases) test(one.name, () => checkRewrite(one))

  const failing: { name: string; rule: string; ask: string }[] = [
    { name: 'too long', rule: 'name regex ^(.*)$ {1}{1}', ask: `${'a.'.repeat(80)}org A` },
    { name: 'made with an empty label', rule: 'name regex ^y(x*)\\. {1}.b', ask: 'y.b.org A' },
  ]
  for (const { name, rule, ask } of failing) {
    test(`fail when a name is ${name}`, async () => {
      const server = serveRules([rule], {})
      assert.deepEqual(await server.ask(ask), ['SERVFAIL rd'])
      assert.deepEqual(server.host.asked, [])
    })
  }

  test('fail when a name in a reply is too long', async () => {
    const rule = `name regex ^a\\. b answer name (b\\.) ${'{1}'.repeat(130)}`
    const server = serveRules([rule], { 'b. IN A rd': ['NOERROR ra', 'b. 60 IN A 192.0.2.1'] })
    assert.deepEqual(await server.ask('a.org A'), ['SERVFAIL rd'])
  })

  const problems: { name: string; rule: string; problem: string }[] = [
    {
      name: 'need names',
      rule: 'name a',
      problem: '11: a name rule needs FROM and TO',
    },
    {
      name: 'match in five ways',
      rule: 'name glob a b',
      problem: '16: "glob" is not a kind of match: exact, prefix, suffix, substring, regex',
    },
    {
      name: 'need the way when an answer follows',
      rule: 'name a b answer auto',
      problem: '16: "a" is not a kind of match: exact, prefix, suffix, substring, regex',
    },
    {
      name: 'have an expression where it says so',
      rule: 'name regex a) b',
      problem: '22: "a)" is not a regular expression: unexpected ): `a)`',
    },
    {
      name: 'have as many groups as they use',
      rule: 'name regex (a) {1}.{2}',
      problem: '26: "{1}.{2}" has {1}, {2}, but "(a)" has fewer groups',
    },
    {
      name: 'have a goal that is an expression as well, as with CoreDNS',
      rule: 'name a.org *.org',
      problem:
        '22: "*.org." is not a regular expression: missing argument to repetition operator: `*`',
    },
  ]
  for (const { name, rule, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOfRule(rule), [`Corefile:2:${problem}`])
    })
  }
})
