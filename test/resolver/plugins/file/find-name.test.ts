import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatName, nameOf } from '../../../../src/dns/names/name.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { findZoneName } from '../../../../src/resolver/plugins/file/find-name.ts'
import { zoneOf } from './zones.ts'

const zone = zoneOf([
  'www A 192.0.2.1',
  'a.b.c A 192.0.2.1',
  '*.wild A 192.0.2.1',
  'own.wild A 192.0.2.1',
  'x.between.wild A 192.0.2.1',
  'y.x.far.wild A 192.0.2.1',
  'a.*.starred A 192.0.2.1',
  'sub NS ns.sub',
  'ns.sub A 192.0.2.1',
  '*.sub A 192.0.2.1',
  'moved DNAME example.net.',
  'below.moved A 192.0.2.1',
])

describe('findName', () => {
  const cases: { name: string; ask: string; type?: number; is: string }[] = [
    { name: 'finds a name with records', ask: 'www', is: 'exact www' },
    { name: 'finds a name in any letter case', ask: 'WwW', is: 'exact www' },
    { name: 'finds a name whatever the type', ask: 'www', type: TYPE.MX, is: 'exact www' },
    { name: 'finds a name that exists for names below it', ask: 'b.c', is: 'empty' },
    { name: 'finds the apex', ask: '', is: 'empty' },
    { name: 'finds no other name', ask: 'nosuch', is: 'absent under ' },
    {
      name: 'finds the closest name above one that is missing',
      ask: 'x.y.b.c',
      is: 'absent under b.c',
    },
    { name: 'finds no name below one with records', ask: 'x.www', is: 'absent under www' },
    { name: 'makes a name from a wildcard', ask: 'x.wild', is: 'wildcard *.wild' },
    {
      name: 'makes a name of many labels from a wildcard',
      ask: 'x.y.z.wild',
      is: 'wildcard *.wild',
    },
    { name: 'finds the wildcard itself', ask: '*.wild', is: 'exact *.wild' },
    { name: 'prefers a name with records', ask: 'own.wild', is: 'exact own.wild' },
    {
      name: 'makes nothing below a name beside the wildcard',
      ask: 'x.own.wild',
      is: 'absent under own.wild',
    },
    {
      name: 'makes a name that only exists for names below it',
      ask: 'between.wild',
      is: 'wildcard *.wild',
    },
    {
      name: 'makes nothing below such a name',
      ask: 'y.between.wild',
      is: 'absent under between.wild',
    },
    { name: 'returns nothing for a name below such a name', ask: 'x.far.wild', is: 'empty' },
    { name: 'finds a wildcard without records', ask: 'x.starred', is: 'wildcard *.starred' },
    { name: 'finds a cut', ask: 'sub', is: 'cut sub' },
    { name: 'finds nothing below a cut', ask: 'ns.sub', is: 'cut sub' },
    { name: 'creates nothing from a wildcard below a cut', ask: 'x.y.sub', is: 'cut sub' },
    { name: 'has the DS records of a cut', ask: 'sub', type: TYPE.DS, is: 'exact sub' },
    { name: 'has no other DS records below it', ask: 'x.sub', type: TYPE.DS, is: 'cut sub' },
    { name: 'finds a name with a DNAME record', ask: 'moved', is: 'exact moved' },
    { name: 'redirects names below it', ask: 'x.y.moved', is: 'redirected moved' },
    {
      name: 'redirects names below it that have records',
      ask: 'below.moved',
      is: 'redirected moved',
    },
  ]
  for (const { name, ask, type = TYPE.A, is } of cases) {
    test(name, () => {
      const match = findZoneName(zone, nameOf(`${ask}.example.org`.replace(/^\./, '')), type)
      const short = (wire: Uint8Array): string => formatName(wire).replace(/\.?example\.org\.$/, '')
      const where = 'node' in match ? ` ${short(match.node.owner)}` : ''
      const under = match.kind === 'absent' ? ` under ${short(match.encloser)}` : ''
      assert.equal(`${match.kind}${where}${under}`, is)
    })
  }

  test('finds names in the root zone', () => {
    const root = zoneOf(['www.test. A 192.0.2.1'], '.')
    assert.equal(findZoneName(root, nameOf('www.test'), TYPE.A).kind, 'exact')
    assert.equal(findZoneName(root, nameOf('test'), TYPE.A).kind, 'empty')
    assert.equal(findZoneName(root, nameOf('.'), TYPE.A).kind, 'empty')
    assert.equal(findZoneName(root, nameOf('org'), TYPE.A).kind, 'absent')
  })
})
