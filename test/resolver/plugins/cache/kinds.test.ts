import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { nameOf, ROOT } from '../../../../src/dns/names/name.ts'
import { parseClass } from '../../../../src/dns/names/rr-class.ts'
import { parseType } from '../../../../src/dns/names/rr-type.ts'
import type { ResourceRecord } from '../../../../src/dns/wire/message.ts'
import { hasAnswer } from '../../../../src/resolver/plugins/cache/kinds.ts'
import { parseRecord } from '../../../parse-record.ts'

function records(...lines: readonly string[]): ResourceRecord[] {
  return lines.map((line) => parseRecord(line, ROOT) ?? assert.fail(line))
}

describe('hasAnswer', () => {
  const cases: { name: string; ask: string; answer: string[]; has: boolean }[] = [
    { name: 'a record', ask: 'a.org IN A', answer: ['a.org. 9 IN A 192.0.2.1'], has: true },
    { name: 'in capitals', ask: 'A.org IN A', answer: ['a.ORG. 9 IN A 192.0.2.1'], has: true },
    { name: 'nothing', ask: 'a.org IN A', answer: [], has: false },
    { name: 'another name', ask: 'a.org IN A', answer: ['b.org. 9 IN A 192.0.2.1'], has: false },
    { name: 'another class', ask: 'a.org CH A', answer: ['a.org. 9 IN A 192.0.2.1'], has: false },
    { name: 'any class', ask: 'a.org ANY A', answer: ['a.org. 9 IN A 192.0.2.1'], has: true },
    { name: 'ANY', ask: 'a.org IN ANY', answer: ['a.org. 9 IN MX 1 b.org.'], has: true },
    { name: 'ANY elsewhere', ask: 'a.org IN ANY', answer: ['b.org. 9 IN MX 1 b.org.'], has: false },
    { name: 'a CNAME', ask: 'a.org IN A', answer: ['a.org. 9 IN CNAME b.org.'], has: false },
    {
      name: 'a CNAME that is requested',
      ask: 'a.org IN CNAME',
      answer: ['a.org. 9 IN CNAME b.org.'],
      has: true,
    },
    {
      name: 'the end of CNAMEs in any order',
      ask: 'a.org IN A',
      answer: ['c.org. 9 IN A 192.0.2.1', 'b.org. 9 IN CNAME c.org.', 'a.org. 9 IN CNAME B.org.'],
      has: true,
    },
    {
      name: 'a record beside a CNAME, which counts for nothing',
      ask: 'a.org IN A',
      answer: ['a.org. 9 IN CNAME b.org.', 'a.org. 9 IN A 192.0.2.1'],
      has: false,
    },
    {
      name: 'the same CNAME twice',
      ask: 'a.org IN A',
      answer: ['a.org. 9 IN CNAME b.org.', 'a.org. 9 IN CNAME b.org.', 'b.org. 9 IN A 192.0.2.1'],
      has: true,
    },
    {
      name: 'CNAMEs that fork',
      ask: 'a.org IN A',
      answer: ['a.org. 9 IN CNAME b.org.', 'a.org. 9 IN CNAME c.org.', 'b.org. 9 IN A 192.0.2.1'],
      has: false,
    },
    {
      name: 'CNAMEs that fork, requested',
      ask: 'a.org IN CNAME',
      answer: ['a.org. 9 IN CNAME b.org.', 'a.org. 9 IN CNAME c.org.'],
      has: false,
    },
    {
      name: 'CNAMEs in a circle',
      ask: 'a.org IN A',
      answer: ['a.org. 9 IN CNAME b.org.', 'b.org. 9 IN CNAME a.org.'],
      has: false,
    },
  ]
  for (const { name, ask, answer, has } of cases) {
    test(`${has ? 'holds' : 'does not hold'} for ${name}`, () => {
      const [owner = '', rrClass = '', type = ''] = ask.split(' ')
      const question = {
        name: nameOf(owner),
        class: parseClass(rrClass) ?? 0,
        type: parseType(type) ?? 0,
      }
      assert.equal(hasAnswer(question, records(...answer)), has)
    })
  }

  test('ends, whatever the CNAMEs', () => {
    const name = fc.constantFrom('a.org.', 'b.org.', 'c.org.', 'd.org.')
    fc.assert(
      fc.property(fc.array(fc.tuple(name, name), { maxLength: 12 }), (pairs) => {
        const answer = records(...pairs.map(([from, to]) => `${from} 9 IN CNAME ${to}`))
        assert.equal(hasAnswer({ name: nameOf('a.org'), class: 1, type: 1 }, answer), false)
      }),
    )
  })
})
