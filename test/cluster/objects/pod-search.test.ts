import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { namesTried, podSearch } from '../../../src/cluster/objects/pod-search.ts'

const OWN = ['shop.svc.cluster.local.', 'svc.cluster.local.', 'cluster.local.']

function searchOf(spec: unknown): string {
  const { search, ndots, usesCluster } = podSearch({ spec }, 'shop', 'cluster.local.')
  return [usesCluster ? 'cluster' : 'node', ndots, ...search].join(' ')
}

describe("a Pod's search list", () => {
  const cases: [name: string, spec: unknown, search: string][] = [
    ['without settings', undefined, `cluster 5 ${OWN.join(' ')}`],
    ['on the network of its host', { hostNetwork: true }, 'node 1'],
    [
      'there, with ClusterFirstWithHostNet',
      { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' },
      `cluster 5 ${OWN.join(' ')}`,
    ],
    ['with Default', { dnsPolicy: 'Default' }, 'node 1'],
    [
      'with None and a dnsConfig',
      {
        dnsPolicy: 'None',
        dnsConfig: { searches: ['a.test'], options: [{ name: 'ndots', value: '2' }] },
      },
      'node 2 a.test.',
    ],
    [
      'with more searches, once each, and the last ndots',
      {
        dnsConfig: {
          searches: ['a.test.', 'cluster.local'],
          options: [
            { name: 'ndots', value: '1' },
            { name: 'ndots', value: '99' },
          ],
        },
      },
      `cluster 15 ${OWN.join(' ')} a.test.`,
    ],
    [
      'with settings of other shapes',
      { dnsPolicy: 7, dnsConfig: { searches: 'x', options: [null, { name: 'ndots' }] } },
      `cluster 5 ${OWN.join(' ')}`,
    ],
  ]
  for (const [name, spec, search] of cases) {
    test(name, () => {
      assert.equal(searchOf(spec), search)
    })
  }
})

describe('the names that are tried', () => {
  const pod = podSearch(undefined, 'shop', 'cluster.local.')
  const cases: [name: string, ndots: number, tried: readonly string[]][] = [
    ['web', 5, [...OWN.map((domain) => `web.${domain}`), 'web.']],
    ['web.', 5, ['web.']],
    ['a.b', 1, ['a.b.', ...OWN.map((domain) => `a.b.${domain}`)]],
    ['a.b.c.d.e.f', 5, ['a.b.c.d.e.f.', ...OWN.map((domain) => `a.b.c.d.e.f.${domain}`)]],
    ['web', 0, ['web.', ...OWN.map((domain) => `web.${domain}`)]],
  ]
  for (const [name, ndots, tried] of cases) {
    test(`${name}, ndots ${ndots}`, () => {
      assert.deepEqual(namesTried(name, { ...pod, ndots }), tried)
    })
  }
})
