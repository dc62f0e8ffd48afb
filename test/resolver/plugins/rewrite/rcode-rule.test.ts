import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { checkRewrite, problemsOfRule, type RewriteCase, serveRules } from './rules.ts'

const asked = { ask: 'a.org A', asks: 'a.org. IN A rd' }
const A = 'a.org. 5 IN A 192.0.2.1'

describe('rules for response codes', () => {
  const cases: RewriteCase[] = [
    {
      name: 'change a code, given by name',
      rules: ['rcode a.org NXDOMAIN noerror'],
      ...asked,
      upstream: ['NXDOMAIN ra', 'authority: org. 5 IN NS a.'],
      reply: ['NOERROR rd ra', 'authority: org. 5 IN NS a.'],
    },
    {
      name: 'change a code, given by number, of a reply without records',
      rules: ['rcode exact a.org 3 5'],
      ...asked,
      upstream: ['NXDOMAIN ra'],
      reply: ['REFUSED rd ra'],
    },
    {
      name: 'leave other codes alone',
      rules: ['rcode suffix org SERVFAIL NOERROR'],
      ...asked,
      upstream: ['NXDOMAIN ra'],
      reply: ['NXDOMAIN rd ra'],
    },
    {
      name: 'leave other names alone',
      rules: ['rcode prefix b. NXDOMAIN NOERROR'],
      ...asked,
      upstream: ['NXDOMAIN ra'],
      reply: ['NXDOMAIN rd ra'],
    },
    {
      name: 'are followed from the last to the first, once without records',
      rules: ['continue rcode regex . 3 5', 'continue rcode substring org. 5 0'],
      ...asked,
      upstream: ['NXDOMAIN ra'],
      reply: ['REFUSED rd ra'],
    },
    {
      name: 'are followed once for each record',
      rules: ['continue rcode regex . 3 5', 'continue rcode substring org. 5 0'],
      ...asked,
      upstream: ['NXDOMAIN ra', A, A],
      reply: ['NOERROR rd ra', A, A],
    },
    {
      name: 'are followed once for the OPT record as well',
      rules: ['continue rcode regex . 3 5', 'continue rcode substring org. 5 0'],
      ask: 'a.org A +edns',
      asks: 'a.org. IN A rd edns=1232',
      upstream: ['NXDOMAIN ra', A],
      reply: ['NOERROR rd ra', A, 'edns: 1232'],
    },
    {
      name: 'may have codes that need EDNS',
      rules: ['rcode a.org NXDOMAIN BADCOOKIE'],
      ask: 'a.org A +edns',
      asks: 'a.org. IN A rd edns=1232',
      upstream: ['NXDOMAIN ra'],
      reply: ['BADCOOKIE rd ra', 'edns: 1232'],
    },
    {
      name: 'fail with such a code for a client without EDNS',
      rules: ['rcode a.org NXDOMAIN 16'],
      ...asked,
      upstream: ['NXDOMAIN ra'],
      reply: ['SERVFAIL rd'],
    },
  ]
  for (const one of cases) test(one.name, () => checkRewrite(one))

  test('change failures of plugins', async () => {
    const server = serveRules(['rcode a.org SERVFAIL NXDOMAIN'], {})
    assert.equal((await server.ask('a.org A'))[0], 'NXDOMAIN rd')
  })

  const problems: { name: string; rule: string; problem: string }[] = [
    {
      name: 'have two codes',
      rule: 'rcode a 3',
      problem: '11: an rcode rule takes a name, FROM and TO',
    },
    {
      name: 'have nothing else',
      rule: 'rcode exact a 3 4 5',
      problem: '29: an rcode rule takes a name, FROM and TO',
    },
    ...['24', '-1', 'BADWORD', '0x3'].map((text) => ({
      name: `have no code ${text}`,
      rule: `rcode a ${text} 0`,
      problem: `19: "${text}" is not a response code: 0-23, or a name such as NXDOMAIN`,
    })),
  ]
  test('hint at the code that is meant', () => {
    assert.deepEqual(problemsOfRule('rcode a SUCCESS 0'), [
      'Corefile:2:19: "SUCCESS" is not a response code; write NOERROR',
    ])
  })
  for (const { name, rule, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOfRule(rule), [`Corefile:2:${problem}`])
    })
  }
})
