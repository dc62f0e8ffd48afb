import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatName, isSubdomain, nameOf } from '../../../src/dns/names/name.ts'
import { closestZone, fallsThrough } from '../../../src/resolver/plugin-kit/zones.ts'

describe('closestZone', () => {
  const cases: { name: string; zones: string[]; of: string; zone: string | undefined }[] = [
    {
      name: 'finds the only one',
      zones: ['example.org'],
      of: 'a.example.org',
      zone: 'example.org.',
    },
    {
      name: 'finds the longest, wherever it is',
      zones: ['.', 'a.example.org', 'example.org'],
      of: 'b.a.example.org',
      zone: 'a.example.org.',
    },
    {
      name: 'finds the zone of its apex',
      zones: ['example.org'],
      of: 'example.org',
      zone: 'example.org.',
    },
    { name: 'finds the root', zones: ['.', 'example.org'], of: 'example.net', zone: '.' },
    { name: 'finds none', zones: ['example.org'], of: 'example.net', zone: undefined },
    {
      name: 'finds none within a label',
      zones: ['example.org'],
      of: 'xexample.org',
      zone: undefined,
    },
    { name: 'finds none among none', zones: [], of: 'example.org', zone: undefined },
  ]
  for (const { name, zones, of, zone } of cases) {
    test(name, () => {
      const found = closestZone(
        zones.map((text) => nameOf(text)),
        nameOf(of),
      )
      assert.equal(found && formatName(found), zone)
    })
  }
})

describe('fallsThrough', () => {
  const cases: { name: string; zones: string[] | undefined; of: string; goesOn: boolean }[] = [
    { name: 'holds for nothing without zones', zones: undefined, of: 'example.org', goesOn: false },
    { name: 'holds for nothing with an empty list', zones: [], of: 'example.org', goesOn: false },
    { name: 'holds for all below the root', zones: ['.'], of: 'example.org', goesOn: true },
    { name: 'holds within a zone', zones: ['a.org', 'b.org'], of: 'x.b.org', goesOn: true },
    { name: 'fails outside of all', zones: ['a.org', 'b.org'], of: 'x.c.org', goesOn: false },
  ]
  for (const { name, zones, of, goesOn } of cases) {
    test(name, () => {
      assert.equal(
        fallsThrough(
          zones?.map((text) => nameOf(text)),
          nameOf(of),
        ),
        goesOn,
      )
    })
  }

  test('holds just where some zone is above the name', () => {
    const name = fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(name, fc.array(name, { maxLength: 3 }), (labels, zoneLabels) => {
        const of = nameOf(labels.join('.'))
        const zones = zoneLabels.map((zone) => nameOf(zone.join('.')))
        assert.equal(
          fallsThrough(zones, of),
          zones.some((zone) => isSubdomain(of, zone)),
        )
      }),
    )
  })
})
