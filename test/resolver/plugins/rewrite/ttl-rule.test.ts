import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { problemsOfRule, serveRules } from './rules.ts'

const TTLS = [0, 29, 60, 2_147_483_647]

describe('rules for TTLs', () => {
  const cases: { rule: string; ttls: number[] }[] = [
    { rule: 'ttl a.org 15', ttls: [15, 15, 15, 15] },
    { rule: 'ttl exact a.org 30-300', ttls: [30, 30, 60, 300] },
    { rule: 'ttl suffix org -30', ttls: [0, 29, 30, 30] },
    { rule: 'ttl regex ^a 30-', ttls: [30, 30, 60, 2_147_483_647] },
    { rule: 'ttl prefix a.org. 0-4294967295', ttls: TTLS },
    { rule: 'ttl substring b.org 15', ttls: TTLS },
  ]
  for (const { rule, ttls } of cases) {
    test(`make of ${TTLS} by "${rule}" ${ttls}`, async () => {
      const lines = TTLS.map(
        (ttl, i) => `${['', 'authority: ', 'additional: '][i % 3]}a.org. ${ttl} IN A 192.0.2.1`,
      )
      const server = serveRules([rule], { 'A.org. IN A rd': ['NOERROR ra', ...lines] })
      const reply = await server.ask('A.org A')
      const seen = reply.flatMap((line) => /(\d+) IN/.exec(line)?.[1] ?? [])
      const order = [0, 3, 1, 2]
      assert.deepEqual(
        seen,
        order.map((i) => String(ttls[i])),
      )
    })
  }

  const problems: { name: string; rule: string; problem: string }[] = [
    {
      name: 'have a name and a TTL',
      rule: 'ttl a',
      problem: '11: a TTL rule takes a name and seconds',
    },
    {
      name: 'have nothing else',
      rule: 'ttl exact a 5 6',
      problem: '25: a TTL rule takes a name and seconds',
    },
    ...['-', '5-4', '1h', '4294967296', '5-6-7', '+5', ''].map((text) => ({
      name: `have no TTL of "${text}"`,
      rule: `ttl a "${text}"`,
      problem: `17: "${text}" is not a TTL: seconds or a range like 5-300, 5- or -300`,
    })),
    {
      name: 'have expressions that are some',
      rule: 'ttl regex [ 5',
      problem: '21: "[" is not a regular expression: missing closing ]: `[`',
    },
  ]
  for (const { name, rule, problem } of problems) {
    test(name, () => {
      assert.deepEqual(problemsOfRule(rule), [`Corefile:2:${problem}`])
    })
  }
})
