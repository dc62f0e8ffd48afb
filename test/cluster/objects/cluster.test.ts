import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { Cluster, objectKey } from '../../../src/cluster/objects/cluster.ts'
import type { ClusterObject, EndpointSlice, Kind } from '../../../src/cluster/objects/objects.ts'
import { PackedEndpoints } from '../../../src/cluster/objects/packed-endpoints.ts'
import { objectsOf } from '../naming.ts'

const SLICE = '{ kind: EndpointSlice, metadata: { name: s, labels: { kubernetes.io/service-name: '

/** Names of the slices that the cluster has for `default/<service>`. */
function sliceNames(cluster: Cluster, service: string): string[] {
  return cluster.slicesOf({ namespace: 'default', name: service }).map(({ name }) => name)
}

function clusterAfter(...objects: readonly ClusterObject[]): Cluster {
  const cluster = new Cluster()
  for (const object of objects) cluster.set(object)
  return cluster
}

describe('Pods by address', () => {
  const pod = (name: string, ip: string, phase = 'Running'): ClusterObject => {
    const [object] = objectsOf(`
    - {kind: Pod, metadata: {name: ${name}}, status: {podIP: "${ip}", phase: ${phase}}}`)
    return object ?? assert.fail()
  }
  const at = (cluster: Cluster, address: string): string | undefined => cluster.podAt(address)?.name

  test('are found however the address is written', () => {
    const cluster = clusterAfter(pod('a', '192.0.2.1'), pod('b', '2001:DB8:0::1'))
    const addresses = ['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1', '192.0.2.2', 'x']
    assert.deepEqual(
      addresses.map((address) => at(cluster, address)),
      ['a', 'a', 'b', undefined, undefined],
    )
  })

  test('are the first by name, and none that has ended', () => {
    const cluster = clusterAfter(
      pod('c', '192.0.2.1'),
      pod('b', '192.0.2.1'),
      pod('a', '192.0.2.1', 'Failed'),
    )
    assert.equal(at(cluster, '192.0.2.1'), 'b')
  })

  test('are followed', () => {
    const cluster = clusterAfter(pod('a', '192.0.2.1'))
    assert.equal(at(cluster, '192.0.2.1'), 'a')
    cluster.set(pod('a', '192.0.2.2'))
    cluster.set(pod('b', '192.0.2.1'))
    assert.deepEqual([at(cluster, '192.0.2.1'), at(cluster, '192.0.2.2')], ['b', 'a'])
    cluster.delete('Pod', 'default', 'b')
    cluster.set(pod('a', '', 'Pending'))
    assert.deepEqual([at(cluster, '192.0.2.1'), at(cluster, '192.0.2.2')], [undefined, undefined])
  })
})

describe('Cluster', () => {
  const oneOfEach = objectsOf(`
    - { kind: Namespace, metadata: { name: x } }
    - { kind: Service, metadata: { name: x } }
    - { kind: Pod, metadata: { name: x } }
    - { kind: EndpointSlice, metadata: { name: x, labels: { kubernetes.io/service-name: x } } }`)

  /** The sizes of all of a cluster's maps. */
  const counts = (cluster: Cluster): number[] => [
    cluster.namespaces.size,
    cluster.services.size,
    cluster.pods.size,
    cluster.slices.size,
    sliceNames(cluster, 'x').length,
  ]

  test('has the objects that were set, by kind', () => {
    assert.deepEqual(counts(clusterAfter(...oneOfEach)), [1, 1, 1, 1, 1])
  })

  const kinds: { kind: Kind; left: number[] }[] = [
    { kind: 'Namespace', left: [0, 1, 1, 1, 1] },
    { kind: 'Service', left: [1, 0, 1, 1, 1] },
    { kind: 'Pod', left: [1, 1, 0, 1, 1] },
    { kind: 'EndpointSlice', left: [1, 1, 1, 0, 0] },
  ]
  for (const { kind, left } of kinds) {
    test(`deletes a ${kind}, and no object of that name but of another kind`, () => {
      const cluster = clusterAfter(...oneOfEach)
      cluster.delete(kind, kind === 'Namespace' ? '' : 'default', 'x')
      assert.deepEqual(counts(cluster), left)
    })

    test(`passes over a ${kind} to delete that does not exist`, () => {
      const cluster = clusterAfter(...oneOfEach)
      cluster.delete(kind, 'default', 'y')
      assert.deepEqual(counts(cluster), [1, 1, 1, 1, 1])
    })
  }

  test('puts an object in place of its former self', () => {
    const [before, after] = objectsOf(`
      - { kind: Pod, metadata: { name: x }, status: { podIP: 192.0.2.1 } }
      - { kind: Pod, metadata: { name: x }, status: { podIP: 192.0.2.2 } }`)
    assert.ok(before && after)
    const { pods } = clusterAfter(before, after)
    assert.deepEqual([...pods.values()], [after])
  })

  test('distinguishes objects of the same name in two namespaces', () => {
    const { services } = clusterAfter(
      ...objectsOf(`
        - { kind: Service, metadata: { name: x, namespace: a } }
        - { kind: Service, metadata: { name: x, namespace: b } }`),
    )
    assert.deepEqual([...services.keys()], ['a/x', 'b/x'])
  })

  test('moves a slice along with its label', () => {
    const cluster = clusterAfter(...objectsOf(`- ${SLICE} a } } }\n- ${SLICE} b } } }`))
    assert.deepEqual(sliceNames(cluster, 'a'), [])
    assert.deepEqual(sliceNames(cluster, 'b'), ['s'])
  })

  test('lists a slice without a Service for none', () => {
    const cluster = clusterAfter(...objectsOf('- { kind: EndpointSlice, metadata: { name: s } }'))
    assert.deepEqual(sliceNames(cluster, ''), [])
    assert.equal(cluster.slices.size, 1)
  })

  test('lists the present slices, by name, after any events', () => {
    const event = fc.record({
      isDeletion: fc.boolean(),
      name: fc.constantFrom('s3', 's1', 's2', 's10'),
      namespace: fc.constantFrom('default', 'shop'),
      serviceName: fc.constantFrom('a', 'b', ''),
    })
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const cluster = new Cluster()
        const expected = new Map<string, EndpointSlice>()
        for (const { isDeletion, name, namespace, serviceName } of events) {
          if (isDeletion) {
            cluster.delete('EndpointSlice', namespace, name)
            expected.delete(`${namespace}/${name}`)
            continue
          }
          const meta = { namespace, name, labels: new Map() }
          const belongs = { serviceName, importName: '' }
          const rest = { endpoints: PackedEndpoints.from([]), ports: [], triggeredMs: 0 }
          const slice: EndpointSlice = { kind: 'EndpointSlice', ...meta, ...belongs, ...rest }
          cluster.set(slice)
          expected.set(`${namespace}/${name}`, slice)
        }
        for (const namespace of ['default', 'shop']) {
          for (const name of ['a', 'b']) {
            const listed = cluster.slicesOf({ namespace, name })
            const wanted = [...expected.values()]
              .filter((slice) => slice.namespace === namespace && slice.serviceName === name)
              .sort((a, b) => (a.name < b.name ? -1 : 1))
            assert.deepEqual(listed, wanted)
          }
        }
      }),
    )
  })
})

describe('objectKey', () => {
  test('is namespace and name', () => {
    assert.equal(objectKey({ namespace: 'shop', name: 'web' }), 'shop/web')
  })
})
