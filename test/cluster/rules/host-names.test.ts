import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { HostName } from '../../../src/cluster/objects/objects.ts'
import {
  absoluteNames,
  hostProblems,
  hostRecords,
  isPublishable,
} from '../../../src/cluster/rules/host-names.ts'
import { EMPTY } from '../../../src/dns/bytes/bytes.ts'
import { MARKS_TYPE, readMarks } from '../../../src/snapshot/records/host-claims.ts'
import { claimOf, formatHosts } from '../naming.ts'

describe('absoluteNames', () => {
  const cases: { said: string; zones: readonly string[]; names: readonly string[] }[] = [
    { said: 'a.test', zones: ['test'], names: ['a.test', 'a.test.test'] },
    {
      said: 'web.shop',
      zones: ['a.test', 'b.test'],
      names: ['web.shop.a.test', 'web.shop.b.test'],
    },
    { said: 'a.test', zones: ['a.test'], names: ['a.test', 'a.test.a.test'] },
    { said: 'aa.test', zones: ['a.test'], names: ['aa.test.a.test'] },
    { said: 'x.a', zones: ['test', 'a.test'], names: ['x.a.a.test'] },
    { said: 'x', zones: [''], names: ['x'] },
  ]
  for (const { said, zones, names } of cases) {
    test(`has ${said} in ${zones.join(' and ') || 'the root'} as ${names.join(', ')}`, () => {
      assert.deepEqual([...absoluteNames(said, zones)].sort(), [...names].sort())
    })
  }
})

describe('hostRecords', () => {
  test('are addresses, CNAMEs and texts', () => {
    const hosts = ['203.0.113.1', '2001:db8::1', 'lb.test', '203.0.113.1']
    assert.deepEqual(
      formatHosts(hostRecords('a.test', claimOf({ hosts, texts: ['x y', 'x y'] }), 60)),
      [
        'a.test 60 A 203.0.113.1',
        'a.test 60 AAAA 2001:db8::1',
        'a.test 60 CNAME lb.test.',
        'a.test 60 TXT "x y"',
      ],
    )
  })

  test('are strings where a text is quoted as a whole', () => {
    const texts = [
      '"v=spf1 -all"',
      'v=spf1 -all',
      '"v=DKIM1; " "p=MIGf"',
      'say "hi"',
      `"${'x'.repeat(256)}"`,
    ]
    assert.deepEqual(formatHosts(hostRecords('a', claimOf({ texts }), 60)), [
      'a 60 TXT "say \\"hi\\""',
      'a 60 TXT "v=DKIM1; " "p=MIGf"',
      'a 60 TXT "v=spf1 -all"',
      `a 60 TXT "${'x'.repeat(255)}" "x"`,
    ])
  })

  test('have marks where a CNAME holds for all types, and where a wildcard is not of one label', () => {
    const marksOf = (name: string, some: Parameters<typeof claimOf>[0]): unknown => {
      const set = hostRecords(name, claimOf(some), 60).find(
        (one) => one.kind === 'records' && one.type === MARKS_TYPE,
      )
      return set?.rdata.map(({ bytes }) => readMarks(bytes))
    }
    const alias = { isAlias: true, hosts: ['lb.test'] }
    const address = { hosts: ['203.0.113.1'] }
    assert.deepEqual(marksOf('a.test', alias), [{ isAlias: true, coverage: 'label' }])
    assert.deepEqual(marksOf('*.a.test', { ...alias, coverage: 'zone' }), [
      { isAlias: true, coverage: 'zone' },
    ])
    assert.deepEqual(marksOf('*.a.test', { ...address, coverage: 'suffix' }), [
      { isAlias: false, coverage: 'suffix' },
    ])
    assert.equal(marksOf('*.a.test', { ...address, coverage: 'label' }), undefined)
    assert.equal(marksOf('a.test', { ...address, coverage: 'suffix' }), undefined)
    assert.equal(marksOf('a.test', { ...address, isAlias: true }), undefined)
    assert.deepEqual(readMarks(EMPTY), { isAlias: false, coverage: 'label' })
  })

  test('split texts after 255 bytes', () => {
    const [line] = formatHosts(hostRecords('a', claimOf({ texts: ['x'.repeat(256)] }), 60))
    assert.equal(line, `a 60 TXT "${'x'.repeat(255)}" "x"`)
  })

  test('are none of a name that is none, and of a text that no record holds', () => {
    assert.deepEqual(hostRecords('a..test', claimOf({ hosts: ['203.0.113.1'] }), 60), [])
    assert.deepEqual(hostRecords('a', claimOf({ texts: ['x'.repeat(65536)] }), 60), [])
  })
})

describe('hostProblems', () => {
  const host = (name: string, ...targets: readonly string[]): HostName => ({
    name,
    targets,
    texts: [],
  })
  const cases: { name: string; host: HostName; problems: readonly string[] }[] = [
    { name: 'none', host: host('_a.b-c.test', '203.0.113.1', 'lb.test'), problems: [] },
    { name: 'none of a wildcard', host: host('*.a.test', '2001:db8::1'), problems: [] },
    { name: 'an empty label', host: host('a..test'), problems: ['"a..test" is not a hostname'] },
    {
      name: 'a wildcard inside',
      host: host('a.*.test'),
      problems: ['"a.*.test" is not a hostname'],
    },
    {
      name: 'a name that is too long',
      host: host(`${'a'.repeat(60)}.`.repeat(4) + 'a'.repeat(11)),
      problems: [`"${`${'a'.repeat(60)}.`.repeat(2).slice(0, 80)}…" is not a hostname`],
    },
    {
      name: 'targets that are none',
      host: host('a.test', '203.0.113.256.', 'x..y', '10.0.0', '1', '4.in-addr', '1a'),
      problems: ['203.0.113.256.', 'x..y', '10.0.0', '1'].map(
        (target) => `"${target}" is neither an address nor a hostname`,
      ),
    },
    { name: 'a loop', host: host('a.test', 'a.test'), problems: ['a.test points to itself'] },
    {
      name: 'what the parser found',
      host: { ...host('a.test'), problems: ['a MX record cannot be "x"'] },
      problems: ['a.test: a MX record cannot be "x"'],
    },
  ]
  for (const { name, host: given, problems } of cases) {
    test(`are ${name}`, () => {
      assert.deepEqual(hostProblems(given), problems)
      const isName = !problems.some((problem) => problem.endsWith('is not a hostname'))
      assert.equal(isPublishable(given), isName)
    })
  }
})
