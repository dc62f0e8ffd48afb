import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseKubernetes } from '../../../../../src/corefile/kubernetes-options.ts'
import { nameOf } from '../../../../../src/dns/names/name.ts'
import { parseQuery, Query } from '../../../../../src/dns/wire/query.ts'
import { visibilityOf } from '../../../../../src/gateway/access/token.ts'
import { explainPlace } from '../../../../../src/resolver/plugins/kubernetes/explain/explain.ts'
import { zoneOf, zonesOfDirective } from '../../../../../src/resolver/plugins/kubernetes/zone.ts'
import { Visibility } from '../../../../../src/snapshot/read/visibility.ts'
import { parseDirective } from '../../../../ask.ts'
import { openFakeCluster } from '../../../../fake-cluster.ts'
import { WHOLE_SCOPE } from '../../../../gateway/whole-scope.ts'
import { parseQuestion } from '../../../../message-text.ts'
import { NO_TIME } from '../../../../turns.ts'

const OBJECTS = `
- { kind: Namespace, metadata: { name: shop } }
- { kind: Service, metadata: { name: web, namespace: shop }, spec: { clusterIP: 192.0.2.10, ports: [{ port: 80 }] } }`
const DIRECTIVE = 'kubernetes cluster.local in-addr.arpa {\n  pods verified\n}'
const OPTIONS = parseKubernetes(parseDirective(DIRECTIVE), [nameOf('.')])
const zones = zonesOfDirective(OPTIONS)
const WHERE = {
  cluster: undefined,
  tree: 'cluster',
  home: zones.home.bytes,
  rules: 'coredns',
  turns: NO_TIME,
} as const

async function nodeOf(
  name: string,
  sees?: (namespace: string) => boolean,
  objects: string = OBJECTS,
): Promise<unknown> {
  const query = parseQuery(parseQuestion(`${name} A`).message, new Query())
  assert.ok(query.kind === 'query')
  const zone = zoneOf(zones, query)
  assert.ok(zone)
  const source = openFakeCluster({ objects }, OPTIONS, [])
  const view = sees && { ...visibilityOf(WHOLE_SCOPE), namespaces: new Visibility(sees) }
  const place = { ...WHERE, zone, source, visibility: view }
  const [fact] = await explainPlace(query, place)
  return fact?.node
}

describe('the node of a name', () => {
  const object = 'Service shop/web'
  const rule = 'cluster IP'
  const web = { namespace: 'shop', object, rule, types: ['A', 'SRV'], isImplied: false }
  const cases: { name: string; sees?: (namespace: string) => boolean; node: unknown }[] = [
    { name: 'web.shop.svc.cluster.local', node: web },
    { name: 'WEB.shop.svc.cluster.local', node: web },
    { name: 'web.shop.svc.cluster.local', sees: (one) => one === 'shop', node: web },
    { name: 'web.shop.svc.cluster.local', sees: () => false, node: null },
    { name: 'nosuch.shop.svc.cluster.local', node: null },
    {
      name: 'svc.cluster.local',
      node: { namespace: '', object: null, rule: 'zone', types: [], isImplied: false },
    },
    {
      name: '10.2.0.192.in-addr.arpa',
      node: {
        namespace: 'shop',
        object,
        rule: 'pointer',
        types: ['PTR'],
        isImplied: false,
        targets: [{ name: 'web.shop.svc.cluster.local.', object }],
      },
    },
    { name: '10.2.0.192.in-addr.arpa', sees: () => false, node: null },
  ]
  for (const { name, sees, node } of cases) {
    test(`${name} ${sees === undefined ? '' : 'in a view'}`, async () => {
      assert.deepEqual(await nodeOf(name, sees), node)
    })
  }
})

describe('the object that makes a name', () => {
  const objects = `
- { kind: Namespace, metadata: { name: shop } }
- { kind: Service, metadata: { name: db, namespace: shop }, spec: { clusterIP: None } }
- { kind: Pod, metadata: { name: db-0, namespace: shop }, status: { podIP: 192.0.2.1, phase: Running } }
- kind: EndpointSlice
  metadata: { name: db-1, namespace: shop, labels: { kubernetes.io/service-name: db } }
  endpoints: [{ addresses: [192.0.2.1], hostname: db-0 }]
  ports: [{ name: sql, port: 5432, protocol: TCP }]`
  const cases: [name: string, object: string | null][] = [
    ['db.shop.svc', 'Service shop/db'],
    ['_sql._tcp.db.shop.svc', 'Service shop/db'],
    ['db-0.db.shop.svc', 'EndpointSlices of Service shop/db'],
    ['shop.svc', 'Namespace shop'],
    ['192-0-2-1.shop.pod', 'Pod at 192-0-2-1 in shop'],
  ]
  for (const [name, object] of cases) {
    test(name, async () => {
      const node = await nodeOf(`${name}.cluster.local`, undefined, objects)
      assert.deepEqual(Object.entries(node ?? {}).find(([key]) => key === 'object')?.[1], object)
    })
  }
})

test('The node of a name is found, though no answer has loaded its shard', async () => {
  const query = parseQuery(parseQuestion('web.shop.svc.cluster.local AXFR').message, new Query())
  assert.ok(query.kind === 'query')
  const zone = zoneOf(zones, query)
  assert.ok(zone)
  for (const presence of ['here', 'shards-later', 'shards-never'] as const) {
    const source = openFakeCluster({ objects: OBJECTS, shardCount: 8, presence }, OPTIONS, [])
    const place = { ...WHERE, zone, source, visibility: undefined }
    const [fact] = await explainPlace(query, place)
    assert.equal(fact?.node !== undefined, presence !== 'shards-never', presence)
  }
})
