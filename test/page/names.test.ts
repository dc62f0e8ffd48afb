import assert from 'node:assert/strict'
import { test } from 'vitest'
import {
  completions,
  crumbsOf,
  depthOf,
  opens,
  shortName,
  startOf,
  typeFor,
  type Zone,
} from '../../page/names.ts'

function zoneOf(zone: string, tree: string): Zone {
  const freshness = { freshness: 'fresh', generation: 1, ageSeconds: 0 }
  return { zone, clusters: [{ cluster: 'shop', tree, ...freshness }] }
}

const ZONE = zoneOf('demo.test.', 'cluster')
const HOSTS = zoneOf('apps.test.', 'hosts')

test('a zone is browsed from its namespaces, if it has any', () => {
  assert.deepEqual([ZONE, HOSTS].map(startOf), ['svc.demo.test.', 'apps.test.'])
})

test('the way to a name has each step', () => {
  assert.deepEqual(crumbsOf('web.shop.svc.demo.test.', 'demo.test.'), [
    { text: 'demo.test', under: 'demo.test.' },
    { text: 'svc', under: 'svc.demo.test.' },
    { text: 'shop', under: 'shop.svc.demo.test.' },
    { text: 'web', under: 'web.shop.svc.demo.test.' },
  ])
  assert.equal(crumbsOf('demo.test.', 'demo.test.').length, 1)
})

test('namespaces and Services open, names below them do not', () => {
  const cases: [string, readonly string[], Zone, boolean][] = [
    ['shop.svc.demo.test.', [], ZONE, true],
    ['dns-version.demo.test.', ['TXT'], ZONE, false],
    ['web.shop.svc.demo.test.', ['A'], ZONE, true],
    ['pod-0.web.shop.svc.demo.test.', ['A'], ZONE, false],
    ['www.apps.test.', ['A'], HOSTS, false],
  ]
  for (const [name, types, zone, isOpen] of cases) {
    assert.equal(opens({ name, types }, zone), isOpen, name)
  }
})

test('a name is queried for its addresses, else for its first type', () => {
  assert.equal(typeFor({ name: 'a.', types: ['SRV', 'A'] }), 'A')
  assert.equal(typeFor({ name: 'a.', types: ['TXT'] }), 'TXT')
  assert.equal(typeFor({ name: 'a.', types: [] }), undefined)
})

test('labels are counted and cut with escaped dots', () => {
  assert.equal(depthOf('a\\.b.demo.test.', 'demo.test.'), 1)
  assert.equal(depthOf('no..name', 'demo.test.'), 0)
  assert.equal(shortName('web.shop.svc.demo.test.', 'shop.svc.demo.test.'), 'web')
  assert.equal(
    shortName('web.shop.svc.demo.test.', 'web.shop.svc.demo.test.'),
    'web.shop.svc.demo.test',
  )
})

test('short names are completed by the zones with Services', () => {
  assert.deepEqual(completions('web.shop', [ZONE, HOSTS]), ['web.shop.svc.demo.test'])
  for (const text of ['', 'web', 'web.shop.svc.demo.test', 'www.apps.test.']) {
    assert.deepEqual(completions(text, [ZONE, HOSTS]), [], text)
  }
})
