import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { CountedTurns } from '../../../../turns.ts'
import { type ExplainedCluster, explainIn } from '../explain-places.ts'

const service = (namespace: string, name: string): string =>
  `- { kind: Service, metadata: { name: ${name}, namespace: ${namespace} }, spec: { clusterIP: 192.0.2.1 } }`
const namespace = (name: string): string => `- { kind: Namespace, metadata: { name: ${name} } }`
const objects = [
  ...['shop', 'blog', 'data'].map(namespace),
  service('shop', 'web'),
  service('shop', 'checkout'),
  service('blog', 'web'),
  service('data', 'postgres'),
  ...Array.from({ length: 9 }, (_, i) => service('data', `node${i}`)),
].join('\n')

async function near(name: string, some: Partial<ExplainedCluster> = {}): Promise<string[]> {
  const { reason } = await explainIn({ objects, ...some }, `${name}.cluster.local A`)
  return (reason?.didYouMean ?? []).map((one) => one.replace('.svc.cluster.local.', ''))
}

describe('similar names', () => {
  const cases: [name: string, near: string[]][] = [
    ['wbe.shop.svc', ['web.shop']],
    ['chekcuot.shop.svc', ['checkout.shop']],
    ['web.shpo.svc', ['web.shop', 'web.blog']],
    ['web.shop', ['web.shop', 'web.blog']],
    ['postgres', ['postgres.data']],
    ['data.postgres.svc', ['postgres.data']],
    ['postgres.shop.svc', ['postgres.data']],
    ['nothing.like.svc', []],
    ['nodes.data.svc', ['node0.data', 'node1.data', 'node2.data']],
  ]
  for (const [name, names] of cases) {
    test(`${name}: ${names.join(' ')}`, async () => {
      assert.deepEqual(await near(name), names)
    })
  }

  test('are those that the client sees', async () => {
    assert.deepEqual(await near('wbe.blog.svc', { sees: (one) => one === 'shop' }), [])
    assert.deepEqual(await near('web.data.svc', { sees: (one) => one !== 'blog' }), ['web.shop'])
  })

  test('let other queries run between the shards', async () => {
    const turns = new CountedTurns()
    assert.deepEqual(await near('wbe.shop.svc', { shardCount: 16, turns }), ['web.shop'])
    assert.ok(turns.turns >= 8, `${turns.turns} turns`)
  })

  test('are found in shards that are not loaded, up to 64 of them', async () => {
    const some = { shardCount: 16, presence: 'shards-later' } as const
    assert.deepEqual(await near('wbe.shop.svc', some), ['web.shop'])
    const lost = { shardCount: 16, presence: 'shards-lost' } as const
    assert.deepEqual(await near('wbe.shop.svc', lost), [])
  })
})
