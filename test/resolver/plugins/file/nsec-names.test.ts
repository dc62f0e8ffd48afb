import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatName, nameOf } from '../../../../src/dns/names/name.ts'
import { zoneOf } from './zones.ts'

/** The names of RFC 4034 §6.1, in its order. */
const NAMES = [
  'example.',
  'a.example.',
  'yljkjljk.a.example.',
  'Z.a.example.',
  'zABC.a.EXAMPLE.',
  'z.example.',
  '\\001.z.example.',
  '*.z.example.',
  '\\200.z.example.',
]

describe('sortNsecs', () => {
  test('sorts any order of names, each once, in steps', () => {
    const names = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 400 })
    fc.assert(
      fc.property(names, (numbers) => {
        const lines = numbers.map((i) => `n${i} NSEC . NSEC`)
        const found = zoneOf(lines)
          .nsecs.values()
          .map(({ owner }) => formatName(owner))
        const unique = [...new Set(numbers)].map((i) => `n${i}.example.org.`)
        assert.deepEqual(found, unique.sort())
      }),
    )
  })
})

describe('names with negative responses', () => {
  const zone = zoneOf(
    NAMES.toReversed().map((name) => `${name} NSEC . NSEC`),
    'example',
  )

  test('are in the order of RFC 4034 §6.1', () => {
    const found = zone.nsecs.values().map(({ owner }) => formatName(owner))
    assert.deepEqual(
      found,
      NAMES.map((name) => name.toLowerCase()),
    )
  })

  const cases: { name: string; is: string | undefined }[] = [
    { name: 'example.', is: 'example.' },
    { name: '\\000.example.', is: 'example.' },
    { name: 'A.example.', is: 'a.example.' },
    { name: 'b.a.example.', is: 'a.example.' },
    { name: 'zz.a.example.', is: 'zabc.a.example.' },
    { name: 'b.example.', is: 'zabc.a.example.' },
    { name: 'a.z.example.', is: '*.z.example.' },
    { name: '\\255.z.example.', is: '\\200.z.example.' },
    { name: '.', is: undefined },
  ]
  for (const { name, is } of cases) {
    test(`${name} is denied at ${is ?? 'none'}`, () => {
      const node = zone.nsecs.find(nameOf(name))
      assert.equal(node && formatName(node.owner), is)
    })
  }

  test('are none in a zone that is not signed', () => {
    const { nsecs } = zoneOf(['a A 192.0.2.1'])
    assert.equal(nsecs.find(nameOf('a.example.org')), undefined)
  })
})
