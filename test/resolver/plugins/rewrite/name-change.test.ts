import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { compilePattern } from '../../../../src/go/pattern/pattern.ts'
import {
  patternReplacement,
  type Replacement,
  replacement,
} from '../../../../src/resolver/plugins/rewrite/name-match.ts'
import {
  ownerRule,
  remapping,
  valueRule,
} from '../../../../src/resolver/plugins/rewrite/name-rule.ts'
import type { ResponseRule } from '../../../../src/resolver/plugins/rewrite/rule.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'
import { recordOf } from '../../../dns/wire/messages.ts'

/** What a rule makes of a record, and what it says against it. */
function changed(rule: ResponseRule, line: string): [line: string, problem: string | undefined] {
  const record = { ...recordOf(line) }
  const reply: { problem: string | undefined } = { problem: undefined }
  rule.record?.(record, reply)
  return [formatRecord(record), reply.problem]
}

describe('changes of names', () => {
  const cases: {
    name: string
    change: Replacement
    pairs: [string, string | undefined][]
  }[] = [
    {
      name: 'remapping concerns a name and those below it',
      change: remapping('b.org.', 'a.org.'),
      pairs: [
        ['b.org.', 'a.org.'],
        ['x.y.b.org.', 'x.y.a.org.'],
        ['ab.org.', undefined],
        ['B.org.', 'a.org.'],
        ['X.y.B.org.', 'X.y.a.org.'],
      ],
    },
    {
      name: 'a text within is replaced in any letter case, and the rest keeps its own',
      change: replacement('substring', 'b.b', 'a'),
      pairs: [
        ['X.B.bb.BY.b.B.', 'X.aaY.a.'],
        ['b.b', 'a'],
        ['b', undefined],
      ],
    },
    {
      name: 'suffixes need not be whole labels',
      change: replacement('suffix', 'b.org.', 'a.com.'),
      pairs: [
        ['ab.org.', 'aa.com.'],
        ['b.org.c.', undefined],
      ],
    },
    {
      name: 'an expression that matches anywhere makes a whole new name',
      change: patternReplacement(compilePattern('(.*)-eu\\.b'), '{1}.a.'),
      pairs: [
        ['x.y-eu.b.org.', 'x.y.a.'],
        ['X.Y-EU.b.org.', 'x.y.a.'],
        ['y.b.org.', undefined],
      ],
    },
  ]
  for (const { name, change, pairs } of cases) {
    test(name, () => {
      for (const [from, to] of pairs) assert.equal(change(from), to)
    })
  }
})

describe('ownerRule', () => {
  test('changes owners and nothing else', () => {
    const rule = ownerRule(remapping('b.', 'a.'))
    assert.deepEqual(changed(rule, 'x.b. 5 IN NS x.b.'), ['x.a. 5 IN NS x.b.', undefined])
  })

  test('leaves an owner that would be no name, and says so', () => {
    const rule = ownerRule(() => 'a..b.')
    assert.deepEqual(changed(rule, 'x.b. 5 IN NS x.b.'), [
      'x.b. 5 IN NS x.b.',
      '"x.b." was rewritten to an invalid name',
    ])
  })
})

describe('valueRule', () => {
  const cases: { type: string; before: string; after: string }[] = [
    { type: 'CNAME', before: 'x.b.', after: 'x.a.' },
    { type: 'DNAME', before: 'x.b.', after: 'x.a.' },
    { type: 'MX', before: '10 x.b.', after: '10 x.a.' },
    { type: 'NS', before: 'x.b.', after: 'x.a.' },
    { type: 'PTR', before: 'X.b.', after: 'X.a.' },
    { type: 'SRV', before: '1 2 3 x.b.', after: '1 2 3 x.a.' },
    { type: 'SRV', before: '1 2 3 .', after: '1 2 3 .' },
    { type: 'NAPTR', before: '1 2 "u" "" "!x!y!" x.b.', after: '1 2 "u" "" "!x!y!" x.a.' },
    { type: 'SOA', before: 'x.b. y.b. 1 2 3 4 5', after: 'x.a. y.b. 1 2 3 4 5' },
    { type: 'RP', before: 'x.b. y.b.', after: 'x.b. y.b.' },
    { type: 'TXT', before: '"x.b."', after: '"x.b."' },
    { type: 'A', before: '192.0.2.1', after: '192.0.2.1' },
  ]
  for (const { type, before, after } of cases) {
    test(`makes ${type} ${before} ${after === before ? 'no other' : after}`, () => {
      const rule = valueRule(remapping('b.', 'a.'))
      assert.deepEqual(changed(rule, `x.b. 5 IN ${type} ${before}`), [
        `x.b. 5 IN ${type} ${after}`,
        undefined,
      ])
    })
  }
})
