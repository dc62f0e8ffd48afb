import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { checkRewrite, problemsOfRule, type RewriteCase } from './rules.ts'

describe('arguments of answer', () => {
  const asked = { ask: 'www.a.org SRV', asks: 'www.b.org. IN SRV rd' }
  const upstream = [
    'NOERROR ra',
    'www.b.org. 60 IN SRV 1 2 3 www.b.org.',
    'additional: www.b.org. 60 IN A 192.0.2.1',
    'additional: www.b.org. 60 IN A 192.0.2.2',
  ]
  const both = [
    'NOERROR rd ra',
    'www.c.org. 60 IN SRV 1 2 3 www.d.org.',
    'additional: www.c.org. 60 IN A 192.0.2.1',
    'additional: www.c.org. 60 IN A 192.0.2.2',
  ]
  const cases: RewriteCase[] = [
    {
      name: 'name changes owners in all sections',
      rules: ['name regex (.*)\\.a\\.org {1}.b.org answer name (.*)\\.b\\.org {1}.C.org'],
      ...asked,
      upstream,
      reply: both.with(1, 'www.c.org. 60 IN SRV 1 2 3 www.b.org.'),
    },
    {
      name: 'value changes names in the data',
      rules: ['name suffix .a.org .b.org answer value (.*)\\.b\\.org\\. {1}.d.org.'],
      ...asked,
      upstream,
      reply: ['NOERROR rd ra', 'www.b.org. 60 IN SRV 1 2 3 www.d.org.', ...upstream.slice(2)],
    },
    {
      name: 'the word may be left out from the second on',
      rules: [
        'name suffix .a.org .b.org answer name (.*)\\.b\\.org {1}.c.org value (.*)\\.b\\.org {1}.d.org',
      ],
      ...asked,
      upstream,
      reply: both,
    },
    {
      name: 'auto comes after what is said of values, wherever it is',
      rules: ['name prefix www. www. answer auto answer value (w*)\\.b\\.org {1}.d.org'],
      ask: 'WWW.b.org SRV',
      asks: 'www.b.org. IN SRV rd',
      upstream,
      reply: [
        'NOERROR rd ra',
        'WWW.b.org. 60 IN SRV 1 2 3 www.d.org.',
        'additional: WWW.b.org. 60 IN A 192.0.2.1',
        'additional: WWW.b.org. 60 IN A 192.0.2.2',
      ],
    },
    {
      name: 'the last that is said of names is followed first',
      rules: [
        'name suffix .a.org .b.org answer name (.*)\\.d\\.org {1}.c.org name (.*)\\.b\\.org {1}.d.org',
      ],
      ...asked,
      upstream,
      reply: both.with(1, 'www.c.org. 60 IN SRV 1 2 3 www.b.org.'),
    },
    {
      name: 'exact rules have it beside what they change anyway',
      rules: ['name exact www.a.org www.b.org answer value x(.*)\\.b\\.org {1}.d.org'],
      ...asked,
      upstream,
      reply: [
        'NOERROR rd ra',
        'www.a.org. 60 IN SRV 1 2 3 www.a.org.',
        'additional: www.a.org. 60 IN A 192.0.2.1',
        'additional: www.a.org. 60 IN A 192.0.2.2',
      ],
    },
  ]
  for (const one of cases) test(one.name, () => checkRewrite(one))

  const problems: { name: string; words: string; problem: string }[] = [
    {
      name: 'begins with the word',
      words: 'auto',
      problem: '27: "auto" is unexpected; only "answer" may follow',
    },
    {
      name: 'is something',
      words: 'answer',
      problem: '27: "answer" needs "auto", "name" or "value"',
    },
    {
      name: 'is one of three things',
      words: 'answer all',
      problem: '34: "answer" needs "auto", "name" or "value"',
    },
    {
      name: 'minds letter case',
      words: 'Answer auto',
      problem: '27: "Answer" is unexpected; only "answer" may follow',
    },
    {
      name: 'has an expression and a name',
      words: 'answer name a',
      problem: '34: "answer name" needs an expression and a name',
    },
    {
      name: 'has as many groups as it uses',
      words: 'answer value a {1}',
      problem: '42: "{1}" has {1}, but "a" has fewer groups',
    },
    {
      name: 'changes names once',
      words: 'answer auto answer name a b',
      problem: '46: "answer auto" already changes names; remove "answer name"',
    },
  ]
  for (const { name, words, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOfRule(`name suffix a b ${words}`), [`Corefile:2:${problem}`])
    })
  }
})
