import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { checkRewrite, problemsOfRule, type RewriteCase } from './rules.ts'

describe('rules for types and classes', () => {
  const cases: RewriteCase[] = [
    {
      name: 'request another type, and answer with it',
      rules: ['type any hinfo'],
      ask: 'A.org ANY +edns',
      asks: 'A.org. IN HINFO rd edns=1232',
      upstream: ['NOERROR ra', 'A.org. 60 IN HINFO "a" "b"'],
      reply: ['NOERROR rd ra', 'A.org. 60 IN HINFO "a" "b"', 'edns: 1232'],
    },
    {
      name: 'leave other types alone',
      rules: ['type ANY HINFO'],
      ask: 'a.org A',
      asks: 'a.org. IN A rd',
      reply: ['NOERROR rd ra'],
    },
    {
      name: 'query in another class',
      rules: ['class ch IN'],
      ask: 'a.org CH TXT',
      asks: 'a.org. IN TXT rd',
      upstream: ['NOERROR ra', 'a.org. 60 IN TXT "a"'],
      reply: ['NOERROR rd ra', 'a.org. 60 IN TXT "a"'],
    },
    {
      name: 'leave other classes alone',
      rules: ['class CH IN'],
      ask: 'a.org HS TXT',
      asks: 'a.org. HS TXT rd',
      reply: ['NOERROR rd ra'],
    },
  ]
  for (const one of cases) test(one.name, () => checkRewrite(one))

  const problems: { name: string; rule: string; problem: string }[] = [
    {
      name: 'have two types',
      rule: 'type A',
      problem: '11: a type rule takes FROM and TO',
    },
    {
      name: 'have no third type',
      rule: 'type A AAAA TXT',
      problem: '23: a type rule takes FROM and TO',
    },
    {
      name: 'have types by name',
      rule: 'type A TYPE28',
      problem: '18: "TYPE28" is not the name of a type, such as AAAA',
    },
    {
      name: 'have a type that one can request',
      rule: 'type A TSIG',
      problem: '18: "TSIG" is not a query type',
    },
    {
      name: 'have two classes',
      rule: 'class IN',
      problem: '11: a class rule takes FROM and TO',
    },
    {
      name: 'have classes by name',
      rule: 'class IN CLASS3',
      problem: '20: "CLASS3" is not the name of a class: IN, CS, CH, HS, NONE, ANY',
    },
  ]
  for (const { name, rule, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOfRule(rule), [`Corefile:2:${problem}`])
    })
  }
})
