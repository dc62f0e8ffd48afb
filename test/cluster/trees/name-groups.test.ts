import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { Kind } from '../../../src/cluster/objects/objects.ts'
import { NameGroups } from '../../../src/cluster/trees/name-groups.ts'
import { clusterRecords } from '../cluster-names.ts'
import { clusterOf, formatEntries, objectsOf, optionsOf } from '../naming.ts'
import { clusterAfter, objects, options } from '../random-cluster.ts'

const SHOP = `
- { kind: Namespace, metadata: { name: shop } }
- { kind: Namespace, metadata: { name: depot } }
- { kind: Service, metadata: { name: web, namespace: shop }, spec: { clusterIP: 192.0.2.1 } }
- kind: EndpointSlice
  metadata: { name: web-1, namespace: shop, labels: { kubernetes.io/service-name: web } }
  endpoints: [{ addresses: [198.51.100.1] }]
- { kind: Pod, metadata: { name: web-a, namespace: shop }, status: { podIP: 198.51.100.1 } }
`
const ALL = ['namespace depot', 'namespace shop', 'service shop/web', 'zone']

function groupsOf(yaml: string, some: Parameters<typeof optionsOf>[0] = {}): NameGroups {
  const groups = new NameGroups(optionsOf(some))
  for (const object of objectsOf(yaml)) groups.set(object)
  return groups
}

test('NameGroups returns a Service with all endpoints, ready or not', () => {
  const groups = groupsOf(`${SHOP}
- kind: EndpointSlice
  metadata: { name: web-2, namespace: shop, labels: { kubernetes.io/service-name: web } }
  endpoints: [{ addresses: [198.51.100.2], conditions: { ready: false } }]`)
  const { service, endpoints } = groups.serviceState('shop', 'web') ?? {}
  assert.equal(service?.name, 'web')
  assert.deepEqual(
    endpoints?.map(({ addresses, isReady }) => [...addresses, isReady]),
    [
      ['198.51.100.1', true],
      ['198.51.100.2', false],
    ],
  )
  assert.equal(groups.serviceState('depot', 'web'), null)
})

describe('NameGroups marks the groups that a change affects:', () => {
  const cases: {
    name: string
    set?: string
    remove?: readonly [kind: Kind, namespace: string, name: string]
    local?: readonly string[]
    changed: readonly string[]
  }[] = [
    {
      name: 'a Service its own',
      set: '{ kind: Service, metadata: { name: web, namespace: shop }, spec: { clusterIP: 192.0.2.2 } }',
      changed: ['service shop/web'],
    },
    {
      name: 'a Service that goes',
      remove: ['Service', 'shop', 'web'],
      changed: ['service shop/web'],
    },
    {
      name: 'a slice that of its Service',
      set: '{ kind: EndpointSlice, metadata: { name: web-2, namespace: shop, labels: { kubernetes.io/service-name: web } } }',
      changed: ['service shop/web'],
    },
    {
      name: 'a slice that goes over to another Service both',
      set: '{ kind: EndpointSlice, metadata: { name: web-1, namespace: shop, labels: { kubernetes.io/service-name: api } } }',
      changed: ['service shop/api', 'service shop/web'],
    },
    {
      name: 'a slice that goes',
      remove: ['EndpointSlice', 'shop', 'web-1'],
      changed: ['service shop/web'],
    },
    {
      name: 'a slice with an address of the server the zone-level names too',
      remove: ['EndpointSlice', 'shop', 'web-1'],
      local: ['198.51.100.1'],
      changed: ['service shop/web', 'zone'],
    },
    {
      name: 'a missing slice nothing',
      remove: ['EndpointSlice', 'shop', 'x'],
      changed: [],
    },
    {
      name: 'a Pod those of its namespace',
      remove: ['Pod', 'shop', 'web-a'],
      changed: ['namespace shop'],
    },
    {
      name: 'a Namespace all that is in it',
      remove: ['Namespace', '', 'shop'],
      changed: ['namespace shop', 'service shop/web'],
    },
    {
      name: 'a Namespace that exists nothing',
      set: '{ kind: Namespace, metadata: { name: shop } }',
      changed: [],
    },
  ]
  for (const { name, set, remove, local = [], changed } of cases) {
    test(name, () => {
      const groups = groupsOf(SHOP, { localAddresses: local })
      assert.deepEqual(groups.takeChanged().toSorted(), ALL)
      for (const object of set === undefined ? [] : objectsOf(`[${set}]`)) groups.set(object)
      if (remove !== undefined) groups.delete(...remove)
      assert.deepEqual(groups.takeChanged().toSorted(), changed)
      assert.deepEqual(groups.takeChanged(), [])
    })
  }
})

describe('NameGroups', () => {
  test('has all names of the cluster in its groups', () => {
    fc.assert(
      fc.property(objects, options, (list, naming) => {
        const groups = new NameGroups(naming)
        for (const object of list) groups.set(object)
        const entries = groups.takeChanged().flatMap((group) => groups.entriesOf(group))
        const whole = clusterRecords(clusterAfter(list), naming).entries
        // The zone group has names that exist anyway.
        const names = new Set(formatEntries(entries))
        assert.deepEqual(
          formatEntries(whole).filter((line) => !names.has(line)),
          [],
        )
        const more = [...names].filter((line) => !formatEntries(whole).includes(line))
        assert.ok(
          more.every((line) => line.endsWith(' exists')),
          more.join(),
        )
      }),
      { numRuns: 60 },
    )
  })

  test('marks all groups on request', () => {
    const groups = groupsOf(SHOP)
    groups.takeChanged()
    groups.markAll()
    assert.deepEqual(groups.takeChanged().toSorted(), ALL)
  })

  test('makes nothing of a group that is no more', () => {
    const groups = groupsOf(SHOP)
    groups.delete('Service', 'shop', 'web')
    groups.delete('EndpointSlice', 'shop', 'web-1')
    assert.deepEqual(groups.entriesOf('service shop/web'), [])
    assert.deepEqual(groups.entriesOf('namespace elsewhere'), [])
  })

  test('drops the warnings of a group that is gone', () => {
    const long = 's'.repeat(64)
    const groups = groupsOf(`
      - { kind: Namespace, metadata: { name: shop } }
      - { kind: Service, metadata: { name: ${long}, namespace: shop }, spec: { clusterIP: 192.0.2.1 } }`)
    const [group = ''] = groups.takeChanged().filter((one) => one.startsWith('service'))
    groups.entriesOf(group)
    assert.equal(groups.warnings().length, 1)
    assert.deepEqual(
      groups.warnings(),
      clusterRecords(
        clusterOf(`
      - { kind: Namespace, metadata: { name: shop } }
      - { kind: Service, metadata: { name: ${long}, namespace: shop }, spec: { clusterIP: 192.0.2.1 } }`),
        optionsOf(),
      ).warnings,
    )
    groups.delete('Service', 'shop', long)
    groups.entriesOf(group)
    assert.deepEqual(groups.warnings(), [])
  })
})
