import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { lowerName, nameOf } from '../../../../src/dns/names/name.ts'
import { nameText } from '../../../../src/dns/names/name-text.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { parseQuery, type Query } from '../../../../src/dns/wire/query.ts'
import { writeQuery } from '../../../../src/dns/wire/write-query.ts'
import { compilePattern } from '../../../../src/go/pattern/pattern.ts'
import { mayHave, mayMatchPattern } from '../../../../src/resolver/plugins/rewrite/name-match.ts'
import { wireName } from '../../../generators.ts'

function queryFor(name: Uint8Array): Query {
  const query = parseQuery(writeQuery({ name, type: TYPE.A }))
  assert.ok(query.kind === 'query')
  return query
}

/** Names with digits, dots within labels and bytes that are written as digits. */
function oddName(): fc.Arbitrary<Uint8Array> {
  const octets = fc.constantFrom(0x00, 0x20, 0x2e, 0x30, 0x33, 0x41, 0x61, 0x62, 0xff)
  const label = fc.array(octets, { minLength: 1, maxLength: 4 })
  return fc
    .array(label, { maxLength: 6 })
    .map((labels) => Uint8Array.of(...labels.flatMap((one) => [one.length, ...one]), 0))
}

describe('mayHave', () => {
  const cases: {
    name: string
    place: Parameters<typeof mayHave>[1]
    text: string
    yes: string[]
    no: string[]
  }[] = [
    {
      name: 'knows a whole name',
      place: 'whole',
      text: 'www.example.org.',
      yes: ['www.example.org', 'WWW.Example.org'],
      no: ['ww.example.org', 'a.www.example.org', 'www.example.orgs', 'org'],
    },
    {
      name: 'knows a beginning',
      place: 'start',
      text: 'www.exa',
      yes: ['www.example.org', 'Www.exa'],
      no: ['ww.example.org', 'wwwwexa', 'a.www.example.org', 'www'],
    },
    {
      name: 'knows an ending',
      place: 'end',
      text: 'mple.org.',
      yes: ['example.org', 'www.exAMPLE.org', 'mple.org'],
      no: ['example.com', 'org', 'mple.org.example.com'],
    },
    {
      name: 'knows what is within',
      place: 'anywhere',
      text: '.example.',
      yes: ['www.example.org', 'a.b.EXAMPLE.c.d'],
      no: ['www.examples.org', 'my_example.org'],
    },
  ]
  for (const { name, place, text, yes, no } of cases) {
    test(name, () => {
      const may = mayHave(text, place)
      const found = (names: string[]): string[] => names.filter((one) => may(queryFor(nameOf(one))))
      assert.deepEqual(found([...yes, ...no]), yes)
    })
  }

  for (const generated of [wireName, oddName]) {
    test(`never says no to text that a name has (${generated.name})`, () => {
      fc.assert(
        fc.property(generated(), fc.nat(), fc.nat(), (name, a, b) => {
          const text = nameText(lowerName(name))
          const [start = 0, end = 0] = [a % text.length, b % text.length].sort((x, y) => x - y)
          const query = queryFor(name)
          assert.ok(mayHave(text, 'whole')(query))
          assert.ok(mayHave(text.slice(0, end), 'start')(query))
          assert.ok(mayHave(text.slice(start), 'end')(query))
          assert.ok(mayHave(text.slice(start, end), 'anywhere')(query))
        }),
        { numRuns: 500 },
      )
    })
  }
})

describe('mayMatchPattern', () => {
  const patterns: { source: string; yes: string[]; no: string[] }[] = [
    {
      source: '(.*)\\.(.*)\\.endpoints\\.cluster\\.local',
      yes: ['web.default.endpoints.cluster.local', 'a.endpoints.cluster.local.example.org'],
      no: ['web.default.svc.cluster.local', 'endpoint.cluster.local'],
    },
    {
      source: '^srv\\.(.*)\\.example\\.org\\.$',
      yes: ['srv.a.example.org', 'srv.example.org'],
      no: ['srv.a.example.com', 'a.srv.example.org', 'a.example.org'],
    },
    { source: '(.*)-eu\\.$', yes: ['a-eu'], no: ['a-eu.b', 'a-us'] },
    { source: '^api\\.', yes: ['api.example.org', 'API.b'], no: ['apis.example.org', 'a.api.b'] },
    { source: '[a-z]+|b', yes: ['a.b', '1'], no: [] },
  ]
  for (const { source, yes, no } of patterns) {
    test(`distinguishes names for ${source}`, () => {
      const may = mayMatchPattern(compilePattern(source))
      assert.deepEqual(
        [...yes, ...no].filter((one) => may(queryFor(nameOf(one)))),
        yes,
      )
    })
  }

  test('never says no to a name that matches', () => {
    const sources = [
      '0?3',
      '\\.b',
      '^a',
      'a\\.$',
      '2a',
      '\\\\',
      '32',
      'b.a',
      '^\\\\03',
      '(a)(b)\\.',
    ]
    const compiled = sources.map(compilePattern)
    fc.assert(
      fc.property(oddName(), (name) => {
        const text = nameText(lowerName(name))
        const query = queryFor(name)
        for (const pattern of compiled) {
          if (pattern.test(text)) assert.ok(mayMatchPattern(pattern)(query), pattern.source)
        }
      }),
      { numRuns: 500 },
    )
  })
})
