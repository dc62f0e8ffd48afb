import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatName, joinName, nameOf } from '../../../../src/dns/names/name.ts'
import { closestZone } from '../../../../src/resolver/plugin-kit/zones.ts'
import { zoneOf } from '../../../../src/resolver/plugins/kubernetes/zone.ts'
import { directive } from '../../../ask.ts'
import { wireName } from '../../../generators.ts'
import { queryFor, queryOf, zonesOf } from './view.ts'

describe('zonesOfDirective', () => {
  const cases: { name: string; line: string; all: string[]; home: string }[] = [
    {
      name: 'reports reverse zones from others',
      line: 'kubernetes cluster.local in-addr.arpa ip6.arpa',
      all: ['cluster.local. forward', 'in-addr.arpa. reverse', 'ip6.arpa. reverse'],
      home: 'cluster.local.',
    },
    {
      name: 'puts the longest first, and is at home in the first that is not a reverse zone',
      line: 'kubernetes 192.0.2.0/24 org cluster.local example.org',
      all: [
        '2.0.192.in-addr.arpa. reverse',
        'cluster.local. forward',
        'example.org. forward',
        'org. forward',
      ],
      home: 'org.',
    },
    {
      name: 'knows which have the names of several clusters',
      line: directive('kubernetes cluster.local in-addr.arpa a.set set', 'multicluster set'),
      all: ['cluster.local. forward', 'in-addr.arpa. reverse', 'a.set. shared', 'set. shared'],
      home: 'cluster.local.',
    },
    {
      name: 'takes the root for a zone that is not a reverse one',
      line: 'kubernetes .',
      all: ['. forward'],
      home: '.',
    },
  ]
  for (const { name, line, all, home } of cases) {
    test(name, () => {
      const zones = zonesOf(line)
      const texts = zones.all.map(
        ({ origin, isReverse, isMulticluster }) =>
          `${formatName(origin.bytes)} ${isReverse ? 'reverse' : isMulticluster ? 'shared' : 'forward'}`,
      )
      assert.deepEqual(texts, all)
      assert.equal(formatName(zones.home.bytes), home)
    })
  }
})

describe('zoneOf', () => {
  const zones = zonesOf('kubernetes cluster.local a.cluster.local local in-addr.arpa')
  const cases: { name: string; ask: string; zone: string | undefined }[] = [
    { name: 'finds the longest zone', ask: 'web.a.cluster.local A', zone: 'a.cluster.local.' },
    { name: 'finds a zone by its apex', ask: 'cluster.local A', zone: 'cluster.local.' },
    { name: 'does not mind letter case', ask: 'X.Cluster.LOCAL A', zone: 'cluster.local.' },
    { name: 'finds a reverse zone', ask: '1.2.0.192.in-addr.arpa A', zone: 'in-addr.arpa.' },
    { name: 'finds no zone within a label', ask: 'xcluster.local A', zone: 'local.' },
    { name: 'finds none elsewhere', ask: 'example.org A', zone: undefined },
    { name: 'finds none for the root', ask: '. A', zone: undefined },
  ]
  for (const { name, ask, zone } of cases) {
    test(name, () => {
      const found = zoneOf(zones, queryOf(ask))
      assert.equal(found && formatName(found.origin.bytes), zone)
    })
  }

  test('finds what closestZone finds', () => {
    const origins = zones.all.map(({ origin }) => origin.bytes)
    const tail = fc.constantFrom(...origins, nameOf('example.org'))
    fc.assert(
      fc.property(wireName({ bytesMax: 200 }), tail, (labels, origin) => {
        const name = joinName(labels.subarray(0, -1), origin)
        assert.ok(name)
        const found = zoneOf(zones, queryFor(name))
        assert.deepEqual(found?.origin.bytes, closestZone(origins, name))
      }),
    )
  })
})
