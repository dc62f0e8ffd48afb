import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseKubernetes } from '../../../../src/corefile/kubernetes-options.ts'
import { formatName, nameOf } from '../../../../src/dns/names/name.ts'
import { parseQuery, Query } from '../../../../src/dns/wire/query.ts'
import type { Client } from '../../../../src/resolver/contract/client.ts'
import type { SnapshotSource } from '../../../../src/resolver/contract/host.ts'
import {
  podNamespace,
  SearchPaths,
} from '../../../../src/resolver/plugins/kubernetes/peer-parts.ts'
import { zonesOfDirective } from '../../../../src/resolver/plugins/kubernetes/zone.ts'
import { Visibility } from '../../../../src/snapshot/read/visibility.ts'
import { parseDirective } from '../../../ask.ts'
import { openFakeCluster } from '../../../fake-cluster.ts'
import { parseQuestion } from '../../../message-text.ts'

const DIRECTIVE = 'kubernetes cluster.local other.test 0.10.in-addr.arpa { \n pods verified \n }'
const CLIENT: Client = { address: '10.0.0.1', port: 1, transport: 'udp' }

function pod(name: string, namespace: string, podIP: string): string {
  return `- {kind: Pod, metadata: {name: ${name}, namespace: ${namespace}}, status: {podIP: '${podIP}'}}`
}

function sourceOf(pods: readonly string[], shardCount = 1): SnapshotSource {
  const namespaces = ['blog', 'shop'].map(
    (name) => `- {kind: Namespace, metadata: {name: ${name}}}`,
  )
  const service = `
- kind: Service
  metadata: {name: web, namespace: blog}
  spec: {clusterIP: 10.0.0.9}`
  const objects = [...namespaces, ...pods, service].join('\n')
  return openFakeCluster(
    { objects, shardCount },
    parseKubernetes(parseDirective(DIRECTIVE), []),
    [],
  )
}

const PODS = [
  pod('a', 'shop', '10.0.0.1'),
  pod('b', 'shop', '10.0.0.2'),
  pod('c', 'blog', '10.0.0.2'),
  pod('d', 'blog', '2001:db8::1'),
  pod('e', 'gone', '10.0.0.3'),
]

describe('podNamespace', () => {
  const cases: readonly [address: string, namespace: string | undefined][] = [
    ['10.0.0.1', 'shop'],
    ['10.0.0.2', 'blog'],
    ['2001:db8::1', 'blog'],
    ['2001:DB8:0::1', 'blog'],
    ['::ffff:10.0.0.1', 'shop'],
    ['10.0.0.3', undefined],
    ['10.0.0.9', undefined],
    ['10.0.0.11', undefined],
    ['nowhere', undefined],
  ]
  for (const shardCount of [1, 8]) {
    for (const [address, namespace] of cases) {
      test(`${address} is ${namespace ?? 'no Pod'}, of ${shardCount} shards`, () => {
        const snapshot = sourceOf(PODS, shardCount).current()
        assert.ok(snapshot !== undefined)
        assert.equal(podNamespace(snapshot, address), namespace)
      })
    }
  }
})

function queryFor(name: string): Query {
  const query = parseQuery(parseQuestion(`${name} A`).message)
  assert.ok(query instanceof Query)
  return query
}

function pathsBy(source: SnapshotSource): (name: string, client?: Client) => string[] | undefined {
  const zones = zonesOfDirective(parseKubernetes(parseDirective(DIRECTIVE), []))
  const paths = new SearchPaths(zones, source, [nameOf('example.org')])
  return (name, client = CLIENT) =>
    paths.of(queryFor(name), client)?.map((element) => formatName(element))
}

describe('SearchPaths', () => {
  test('are those of the zone of the query, of the machine, and the root', () => {
    const of = pathsBy(sourceOf(PODS))
    for (const zone of ['cluster.local.', 'other.test.', '0.10.in-addr.arpa.']) {
      const expected = [`shop.svc.${zone}`, `svc.${zone}`, zone, 'example.org.', '.']
      assert.deepEqual(of(`a.${zone}`), expected)
      assert.deepEqual(of(`b.${zone}`), expected)
    }
  })

  test('are none outside the zones, and for a client that is not a Pod', () => {
    const of = pathsBy(sourceOf(PODS))
    assert.equal(of('www.example.org'), undefined)
    assert.equal(of('a.cluster.local', { ...CLIENT, address: '192.0.2.1' }), undefined)
  })

  test('are none for a client that has a view', () => {
    const of = pathsBy(sourceOf(PODS))
    const namespaces = new Visibility(() => true)
    const visibility = {
      id: '',
      seesOrigin: () => true,
      seesName: () => true,
      namespaces,
      mayRecurse: true,
    }
    assert.equal(of('a.cluster.local', { ...CLIENT, visibility }), undefined)
  })

  test('follow the snapshots', () => {
    const [before, after] = [sourceOf(PODS), sourceOf([pod('a', 'blog', '10.0.0.1')])]
    let current = before
    const of = pathsBy({ ...before, current: () => current.current() })
    assert.equal(of('a.cluster.local')?.[0], 'shop.svc.cluster.local.')
    current = after
    assert.equal(of('a.cluster.local')?.[0], 'blog.svc.cluster.local.')
  })

  test('are none without a snapshot', () => {
    const of = pathsBy({ ...sourceOf(PODS), current: () => undefined })
    assert.equal(of('a.cluster.local'), undefined)
  })

  test('stay right for more clients than are kept at hand', () => {
    const of = pathsBy(sourceOf(PODS))
    for (let i = 0; i < 10_000; i++) {
      const address = `10.0.${i >> 8}.${i & 255}`
      const [own] = of('a.cluster.local', { ...CLIENT, address }) ?? []
      const namespace = i === 1 ? 'shop' : i === 2 ? 'blog' : undefined
      assert.equal(own, namespace && `${namespace}.svc.cluster.local.`)
    }
  })
})
