import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { NamingOptions } from '../../src/kubernetes/options.ts'
import { isSelected, servedNamespaces } from '../../src/kubernetes/selection.ts'
import { clusterOf, objectsOf, optionsOf, selectorOf } from './naming.ts'

describe('isSelected', () => {
  const meta = (tier: string): string => `metadata: { name: x, labels: { tier: ${tier} } }`
  const cases: { name: string; kind: string; tier: string; selected: boolean }[] = [
    { name: 'a Service by "labels"', kind: 'Service', tier: 'object', selected: true },
    { name: 'a slice by "labels"', kind: 'EndpointSlice', tier: 'object', selected: true },
    { name: 'a Pod by "labels"', kind: 'Pod', tier: 'object', selected: true },
    { name: 'a Namespace by "namespace_labels"', kind: 'Namespace', tier: 'ns', selected: true },
    { name: 'no Service by "namespace_labels"', kind: 'Service', tier: 'ns', selected: false },
    { name: 'no slice by "namespace_labels"', kind: 'EndpointSlice', tier: 'ns', selected: false },
    { name: 'no Pod by "namespace_labels"', kind: 'Pod', tier: 'ns', selected: false },
    { name: 'no Namespace by "labels"', kind: 'Namespace', tier: 'object', selected: false },
  ]
  const options = optionsOf({
    objectSelector: selectorOf('tier=object'),
    namespaceSelector: selectorOf('tier=ns'),
  })
  for (const { name, kind, tier, selected } of cases) {
    test(`takes ${name}`, () => {
      const [object] = objectsOf(`- { kind: ${kind}, ${meta(tier)} }`)
      assert.ok(object)
      assert.equal(isSelected(object, options), selected)
    })
  }

  test('takes everything without selectors', () => {
    const [object] = objectsOf('- { kind: Service, metadata: { name: x } }')
    assert.ok(object)
    assert.equal(isSelected(object, optionsOf()), true)
  })
})

describe('servedNamespaces', () => {
  const namespaces = `
    - { kind: Namespace, metadata: { name: web } }
    - { kind: Namespace, metadata: { name: ops, labels: { tier: gold } } }
    - { kind: Namespace, metadata: { name: a.b } }
    - { kind: Namespace, metadata: { name: app, labels: { tier: gold } } }`
  const cases: { name: string; options: Partial<NamingOptions>; served: string[] }[] = [
    {
      name: 'lists those that exist and are labels, sorted',
      options: {},
      served: ['app', 'ops', 'web'],
    },
    {
      name: 'lists no more than those that are asked for',
      options: { namespaces: new Set(['web', 'app']) },
      served: ['app', 'web'],
    },
    {
      name: 'lists none that is asked for but does not exist',
      options: { namespaces: new Set(['web', 'gone']) },
      served: ['web'],
    },
    {
      name: 'lists those that the selector let into the cluster',
      options: { namespaceSelector: selectorOf('tier') },
      served: ['app', 'ops'],
    },
  ]
  for (const { name, options, served } of cases) {
    test(name, () => {
      const naming = optionsOf(options)
      assert.deepEqual(servedNamespaces(clusterOf(namespaces, naming), naming), served)
    })
  }
})
