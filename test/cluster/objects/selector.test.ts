import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  matchesSelector,
  parseSelector,
  type Selector,
} from '../../../src/cluster/objects/selector.ts'

type Labels = Readonly<Record<string, string>>
const labelsOf = (labels: Labels): ReadonlyMap<string, string> => new Map(Object.entries(labels))

describe('matchesSelector', () => {
  const gold = { tier: 'gold' }
  const cases: { selector: string; meets: Labels[]; fails: Labels[] }[] = [
    { selector: '', meets: [{}, gold], fails: [] },
    { selector: ' ', meets: [{}, gold], fails: [] },
    { selector: 'tier', meets: [gold, { tier: '' }], fails: [{}, { Tier: 'gold' }] },
    { selector: '!tier', meets: [{}], fails: [gold, { tier: '' }] },
    { selector: '! tier', meets: [{}], fails: [gold] },
    { selector: 'tier=gold', meets: [gold], fails: [{}, { tier: 'Gold' }, { tier: 'golden' }] },
    { selector: 'tier==gold', meets: [gold], fails: [{}, { tier: 'tin' }] },
    { selector: ' tier = gold ', meets: [gold], fails: [{}, { tier: 'tin' }] },
    { selector: 'tier!=gold', meets: [{}, { tier: 'tin' }], fails: [gold] },
    { selector: 'tier=', meets: [{ tier: '' }], fails: [{}, gold] },
    { selector: 'tier!=', meets: [{}, gold], fails: [{ tier: '' }] },
    { selector: 'tier in (gold,tin)', meets: [gold, { tier: 'tin' }], fails: [{}, { tier: 'x' }] },
    { selector: 'tier in(gold)', meets: [gold], fails: [{}] },
    { selector: 'tier in ( gold , tin )', meets: [gold, { tier: 'tin' }], fails: [{}] },
    { selector: 'tier in (gold,)', meets: [gold, { tier: '' }], fails: [{}] },
    { selector: 'tier in (,)', meets: [{ tier: '' }], fails: [{}, gold] },
    { selector: 'tier in ()', meets: [{ tier: '' }], fails: [{}, gold] },
    { selector: 'tier notin ( )', meets: [{}, gold], fails: [{ tier: '' }] },
    { selector: 'a in (x,,y),b notin (),c', meets: [{ a: '', b: '1', c: '' }], fails: [{ a: '' }] },
    { selector: 'tier notin (gold)', meets: [{}, { tier: 'tin' }], fails: [gold] },
    { selector: 'a=1,b', meets: [{ a: '1', b: '2' }], fails: [{ a: '1' }, { b: '2' }, {}] },
    {
      selector: 'tier in (gold,tin),!legacy,zone!=b',
      meets: [gold, { tier: 'tin', zone: 'a' }],
      fails: [{ ...gold, legacy: '' }, { ...gold, zone: 'b' }, {}],
    },
    { selector: 'a=1,a=2', meets: [], fails: [{}, { a: '1' }, { a: '2' }] },
    { selector: 'in in (in)', meets: [{ in: 'in' }], fails: [{}] },
    { selector: 'notin', meets: [{ notin: 'x' }], fails: [{}] },
    {
      selector: 'app.kubernetes.io/name=web,example.org/a_B.c-d',
      meets: [{ 'app.kubernetes.io/name': 'web', 'example.org/a_B.c-d': '' }],
      fails: [{ name: 'web' }],
    },
    { selector: 'constructor', meets: [{ constructor: 'x' }], fails: [{}] },
  ]
  for (const { selector, meets, fails } of cases) {
    test(`"${selector}" matches the right labels`, () => {
      const parsed = parseSelector(selector)
      assert.ok(parsed)
      const found = [...meets, ...fails].map((labels) => matchesSelector(parsed, labelsOf(labels)))
      assert.deepEqual(found, [...meets.map(() => true), ...fails.map(() => false)])
    })
  }
})

describe('parseSelector', () => {
  const long = 'a'.repeat(63)
  const prefix253 = [long, long, long, 'a'.repeat(61)].join('.')
  const taken: { name: string; text: string }[] = [
    { name: 'a key of 63 characters', text: long },
    { name: 'a value of 63 characters', text: `a=${long}` },
    { name: 'a prefix of 253 characters', text: `${prefix253}/a` },
    { name: 'capitals in a key', text: 'aB=c' },
    { name: 'digits at the ends of a key', text: '0a9' },
  ]
  for (const { name, text } of taken) {
    test(`takes ${name}`, () => {
      assert.equal(parseSelector(text)?.length, 1)
    })
  }

  const refused: { name: string; text: string }[] = [
    { name: 'a comma at the end', text: 'a,' },
    { name: 'a comma at the front', text: ',a' },
    { name: 'a comma alone', text: ',' },
    { name: 'two commas', text: 'a,,b' },
    { name: 'a set without parentheses', text: 'a in b' },
    { name: 'a set without values', text: 'a in' },
    { name: 'an open parenthesis', text: 'a in (b' },
    { name: 'a comma after an open parenthesis', text: 'a in (b,c' },
    { name: 'a closing parenthesis alone', text: 'a)' },
    { name: 'parentheses in parentheses', text: 'a in ((b))' },
    { name: 'parentheses round all', text: '(a,b)' },
    { name: 'something after the parentheses', text: 'a in (b)c' },
    { name: 'an operator in capitals', text: 'a IN (b)' },
    { name: 'an invalid operator', text: 'a like (b)' },
    { name: 'two values without a comma', text: 'a in (b c)' },
    { name: 'two keys without a comma', text: 'a b' },
    { name: 'three equals signs', text: 'a===b' },
    { name: 'equals signs apart', text: 'a= =b' },
    { name: 'an operator apart', text: 'a! =b' },
    { name: 'a value without a key', text: '=b' },
    { name: 'a negation alone', text: '!' },
    { name: 'a double negation', text: '!!a' },
    { name: 'a negation with a value', text: '!a=b' },
    { name: 'a negation of a value', text: 'a=!b' },
    { name: 'a key that begins with a dash', text: '-a' },
    { name: 'a key that ends in a dot', text: 'a.' },
    { name: 'a key of 64 characters', text: `${long}a` },
    { name: 'a key with letters beyond ASCII', text: 'ä=b' },
    { name: 'a key with two prefixes', text: 'a/b/c' },
    { name: 'a prefix without a name', text: 'a/' },
    { name: 'a name without its prefix', text: '/a' },
    { name: 'a prefix with capitals', text: 'Example.org/a' },
    { name: 'a prefix with an empty label', text: 'a..b/c' },
    { name: 'a prefix with a label that ends in a dash', text: 'a-.b/c' },
    { name: 'a prefix with a label that begins with a dash', text: 'a.-b/c' },
    { name: 'a prefix of 254 characters', text: `${prefix253}a/a` },
    { name: 'a value that begins with a dash', text: 'a=-b' },
    { name: 'a value of 64 characters', text: `a=${long}a` },
    { name: 'a value with a slash', text: 'a=b/c' },
    { name: 'bars for commas', text: 'a=b||c=d' },
    { name: 'two equations in one', text: 'a==b==c' },
    { name: 'a bad value among others', text: 'a in (b,c/d)' },
    // The API takes numbers to compare, but not in selectors of this kind, nor does CoreDNS.
    { name: 'a number to be over', text: 'a>1' },
    { name: 'a number to be under', text: 'a < 1' },
  ]
  for (const { name, text } of refused) {
    test(`refuses ${name}`, () => {
      assert.equal(parseSelector(text), undefined)
    })
  }

  test('reads back every selector, however it is spaced', () => {
    const key = fc.stringMatching(
      /^([a-z]{1,5}(\.[a-z]{1,5})?\/)?[A-Za-z0-9]([-\w.]{0,9}[a-z0-9])?$/,
    )
    const value = fc.stringMatching(/^([A-Za-z0-9]([-\w.]{0,9}[a-z0-9])?)?$/)
    const values = fc.array(value, { minLength: 1, maxLength: 4 })
    const blank = fc.constantFrom('', ' ', '  ', '\t')
    type Part = { readonly requirement: Selector[number]; readonly text: string }
    const part: fc.Arbitrary<Part> = fc.oneof(
      fc.record({ key, blank }).map(({ key, blank }) => ({
        requirement: { key, operator: 'exists' as const, values: [] },
        text: `${blank}${key}${blank}`,
      })),
      fc.record({ key, blank }).map(({ key, blank }) => ({
        requirement: { key, operator: 'missing' as const, values: [] },
        text: `${blank}!${blank}${key}`,
      })),
      fc.record({ key, value, blank, sign: fc.constantFrom('=', '==', '!=') }).map((given) => ({
        requirement: {
          key: given.key,
          operator: given.sign === '!=' ? ('notin' as const) : ('in' as const),
          values: [given.value],
        },
        text: [given.key, given.sign, given.value].join(given.blank),
      })),
      fc
        .record({ key, values, blank, operator: fc.constantFrom('in' as const, 'notin' as const) })
        .map(({ blank, ...requirement }) => ({
          requirement,
          text:
            `${requirement.key} ${requirement.operator}${blank}` +
            `(${blank}${requirement.values.join(`${blank},${blank}`)}${blank})`,
        })),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const parsed = parseSelector(parts.map(({ text }) => text).join(','))
        assert.deepEqual(
          parsed,
          parts.map(({ requirement }) => requirement),
        )
      }),
    )
  })

  test('never throws and never hangs', () => {
    const soup = fc.string({
      unit: fc.constantFrom(
        'a',
        'in',
        'notin',
        '(',
        ')',
        ',',
        '=',
        '!',
        ' ',
        '.',
        '-',
        '/',
        'Z',
        'é',
      ),
      maxLength: 60,
    })
    fc.assert(
      fc.property(fc.oneof(soup, fc.string()), (text) => {
        const parsed = parseSelector(text)
        assert.ok(parsed === undefined || matchesSelector(parsed, new Map()) !== undefined)
      }),
    )
    assert.equal(parseSelector(`${'(,'.repeat(20_000)}`), undefined)
    assert.equal(parseSelector(`${'a.'.repeat(20_000)}-/x`), undefined)
  })
})
