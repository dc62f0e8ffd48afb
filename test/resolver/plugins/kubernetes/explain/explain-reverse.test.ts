import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { type ExplainedCluster, explainIn } from '../explain-places.ts'

const objects = `
- { kind: Namespace, metadata: { name: shop } }
- { kind: Namespace, metadata: { name: data } }
- { kind: Service, metadata: { name: web, namespace: shop }, spec: { clusterIP: 192.0.2.10 } }
- { kind: Service, metadata: { name: db, namespace: data }, spec: { clusterIP: None } }
- kind: EndpointSlice
  metadata: { name: db-1, namespace: data, labels: { kubernetes.io/service-name: db } }
  endpoints: [{ addresses: [192.0.2.10], hostname: db-0 }]`

async function targets(cluster: Partial<ExplainedCluster> = {}): Promise<unknown> {
  const given = { objects, ...cluster }
  const { node } = await explainIn(given, '10.2.0.192.in-addr.arpa PTR')
  return node?.targets
}

describe('an address', () => {
  test('has the object of its Service, which hides endpoints from clients that see it', async () => {
    const web = { name: 'web.shop.svc.cluster.local.', object: 'Service shop/web' }
    assert.deepEqual(await targets(), [web])
    const db = {
      name: 'db-0.db.data.svc.cluster.local.',
      object: 'EndpointSlices of Service data/db',
    }
    assert.deepEqual(await targets({ sees: (one) => one === 'data' }), [db])
    assert.equal(await targets({ sees: () => false }), undefined)
  })

  test('is found in a shard that is loaded for it', async () => {
    const cluster = { shardCount: 8, presence: 'shards-later' } as const
    assert.equal(JSON.stringify(await targets(cluster)), JSON.stringify(await targets()))
  })

  const reasons: [question: string, code: string][] = [
    ['9.2.0.192.in-addr.arpa PTR', 'no_pointer'],
    ['2.0.192.in-addr.arpa PTR', 'bad_reverse_name'],
    ['x.2.0.192.in-addr.arpa PTR', 'bad_reverse_name'],
    ['10.2.0.192.in-addr.arpa A', 'wrong_type'],
  ]
  for (const [question, code] of reasons) {
    test(`${question}: ${code}`, async () => {
      assert.equal((await explainIn({ objects }, question)).reason?.code, code)
    })
  }
})
