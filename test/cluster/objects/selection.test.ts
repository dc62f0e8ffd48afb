import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { NamingOptions, SelectedHosts } from '../../../src/cluster/objects/options.ts'
import { isSelected, servedNamespaces } from '../../../src/cluster/objects/selection.ts'
import { clusterOf, hostsTree, objectsOf, optionsOf, selectorOf } from '../naming.ts'

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

describe('isSelected for hostnames', () => {
  const balanced = 'spec: { type: LoadBalancer }'
  const ignored = "labels: { k8s-gateway.dns/ignore: 'true' }"
  const cases: {
    name: string
    kind: string
    metadata?: string
    spec?: string
    tree?: Partial<SelectedHosts>
    selected: boolean
  }[] = [
    { name: 'an Ingress', kind: 'Ingress', selected: true },
    { name: 'a Node', kind: 'Node', selected: true },
    { name: 'a Gateway, though it says no names', kind: 'Gateway', selected: true },
    { name: 'a slice', kind: 'EndpointSlice', selected: true },
    {
      name: 'a Service that is reached from outside',
      kind: 'Service',
      spec: balanced,
      selected: true,
    },
    { name: 'no other Service', kind: 'Service', selected: false },
    { name: 'no Namespace', kind: 'Namespace', selected: false },
    {
      name: 'no kind that is not wanted',
      kind: 'Ingress',
      tree: { resources: ['Service'] },
      selected: false,
    },
    { name: 'nothing that people took out', kind: 'Ingress', metadata: ignored, selected: false },
    {
      name: 'an Ingress of a class that counts',
      kind: 'Ingress',
      spec: 'spec: { ingressClassName: b }',
      tree: { ingressClasses: ['a', 'b'] },
      selected: true,
    },
    {
      name: 'no Ingress without a class where classes count',
      kind: 'Ingress',
      tree: { ingressClasses: ['a'] },
      selected: false,
    },
    {
      name: 'no Gateway of another class',
      kind: 'Gateway',
      spec: 'spec: { gatewayClassName: b }',
      tree: { gatewayClasses: ['a'] },
      selected: false,
    },
    {
      name: 'a Service that meets one of the selectors',
      kind: 'Service',
      metadata: 'labels: { tier: gold }',
      spec: balanced,
      tree: { serviceSelectors: [selectorOf('tier=lead'), selectorOf('tier=gold')] },
      selected: true,
    },
    {
      name: 'no Service that meets none of them',
      kind: 'Service',
      spec: balanced,
      tree: { serviceSelectors: [selectorOf('tier=lead'), selectorOf('tier=gold')] },
      selected: false,
    },
  ]
  for (const { name, kind, metadata = '', spec = '', tree, selected } of cases) {
    test(`takes ${name}`, () => {
      const [object] = objectsOf(`[{ kind: ${kind}, metadata: { name: x, ${metadata} }, ${spec} }]`)
      assert.ok(object)
      assert.equal(isSelected(object, optionsOf({ tree: hostsTree(tree) })), selected)
    })
  }
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
      name: 'lists no more than those that are requested',
      options: { namespaces: new Set(['web', 'app']) },
      served: ['app', 'web'],
    },
    {
      name: 'lists none that is requested but does not exist',
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
