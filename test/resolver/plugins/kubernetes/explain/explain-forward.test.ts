import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { objectOf } from '../../../../../src/resolver/plugins/kubernetes/explain/explained-names.ts'
import { explainIn } from '../explain-places.ts'

const objects = `
- { kind: Namespace, metadata: { name: shop } }
- { kind: Service, metadata: { name: web, namespace: shop }, spec: { clusterIP: 192.0.2.10, ports: [{ name: http, port: 80 }] } }
- { kind: Service, metadata: { name: bare, namespace: shop }, spec: { clusterIP: 192.0.2.11 } }
- { kind: Service, metadata: { name: out, namespace: shop }, spec: { type: ExternalName, externalName: a.test } }
- { kind: Service, metadata: { name: db, namespace: shop }, spec: { clusterIP: None } }
- kind: EndpointSlice
  metadata: { name: db-1, namespace: shop, labels: { kubernetes.io/service-name: db } }
  endpoints: [{ addresses: [192.0.2.1], hostname: db-0 }]
  ports: [{ name: sql, port: 5432, protocol: TCP }]`

describe('the rule of a name', () => {
  const cases: [name: string, rule: string][] = [
    ['cluster.local', 'zone'],
    ['svc.cluster.local', 'zone'],
    ['ns.dns.cluster.local', 'name server'],
    ['dns-version.cluster.local', 'version'],
    ['shop.svc.cluster.local', 'namespace'],
    ['web.shop.svc.cluster.local', 'cluster IP'],
    ['bare.shop.svc.cluster.local', 'service'],
    ['out.shop.svc.cluster.local', 'ExternalName'],
    ['db.shop.svc.cluster.local', 'headless'],
    ['_sql._tcp.db.shop.svc.cluster.local', 'port'],
    ['db-0.db.shop.svc.cluster.local', 'endpoint'],
  ]
  for (const [name, rule] of cases) {
    test(`${name}: ${rule}`, async () => {
      const { node } = await explainIn({ objects }, `${name} A`)
      assert.equal(node?.rule, rule)
    })
  }
})

test('a type that is missing is the reason, with the types that exist', async () => {
  const { reason } = await explainIn({ objects }, 'web.shop.svc.cluster.local MX')
  assert.deepEqual(reason, {
    code: 'wrong_type',
    text: 'Service shop/web has A and SRV, no MX',
    missing: 'MX',
    didYouMean: [],
  })
  assert.equal((await explainIn({ objects }, 'out.shop.svc.cluster.local A')).reason, undefined)
})

test('objects have the kinds of their tree', () => {
  assert.equal(objectOf(['web', 'shop', 'svc'], 'multicluster'), 'ServiceImport shop/web')
  assert.equal(objectOf(['web', 'shop', 'dns'], 'cluster'), null)
})
