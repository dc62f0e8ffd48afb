import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseRule } from '../../../src/plugins/rewrite/parse-rule.ts'
import { directive, parseDirective } from '../../ask.ts'
import { checkRewrite, problemsOfRule } from './rules.ts'

describe('parseRule', () => {
  const modes: { rule: string; isLast: boolean }[] = [
    { rule: 'name a b', isLast: true },
    { rule: 'stop name a b', isLast: true },
    { rule: 'continue name a b', isLast: false },
    { rule: 'CONTINUE Name a b', isLast: false },
  ]
  for (const { rule, isLast } of modes) {
    test(`takes "${rule}" for ${isLast ? 'the last' : 'one of several'}`, () => {
      assert.equal(parseRule(parseDirective(`rewrite ${rule}`), () => undefined).isLast, isLast)
    })
  }

  const blocks: { name: string; rule: string }[] = [
    {
      name: 'takes lines in braces for one',
      rule: directive(
        'stop',
        'name regex (.*)\\.a\\.org {1}.b.org',
        'answer name (.*)\\.b\\.org {1}.c.org',
      ),
    },
    {
      name: 'takes a whole rule in braces',
      rule: directive(
        '',
        'stop',
        'name',
        'suffix .a.org .b.org answer',
        'name (.*)\\.b\\.org',
        '{1}.c.org',
      ),
    },
  ]
  for (const { name, rule } of blocks) {
    test(name, () =>
      checkRewrite({
        name,
        rules: [rule],
        ask: 'www.a.org A',
        asks: 'www.b.org. IN A rd',
        upstream: ['NOERROR ra', 'www.b.org. 60 IN A 192.0.2.1'],
        reply: ['NOERROR rd ra', 'www.c.org. 60 IN A 192.0.2.1'],
      }),
    )
  }

  const kinds = 'name, type, class, edns0, ttl, cname, rcode'
  const problems: { name: string; rule: string; problem: string }[] = [
    { name: 'needs a field', rule: '', problem: `2:3: "rewrite" needs what to rewrite: ${kinds}` },
    {
      name: 'needs a field after stop',
      rule: 'stop',
      problem: `2:3: "rewrite" needs what to rewrite: ${kinds}`,
    },
    {
      name: 'knows seven fields',
      rule: 'opcode 1 2',
      problem: `2:11: "opcode" cannot be rewritten: ${kinds}`,
    },
    {
      name: 'has no answer without a name',
      rule: 'continue answer auto',
      problem: '2:20: "answer" stands behind a rule for names only',
    },
    {
      name: 'has a rule on one line or in braces',
      rule: directive('name a b', 'answer auto'),
      problem: '3:5: a rule stands on one line, or in braces as a whole',
    },
    {
      name: 'has no braces within braces',
      rule: directive('stop', 'name a b {', 'answer auto', '}'),
      problem: '4:5: a rule has no braces within its braces',
    },
  ]
  for (const { name, rule, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOfRule(rule), [`Corefile:${problem}`])
    })
  }
})
