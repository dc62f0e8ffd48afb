import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseKubernetes } from '../../../src/corefile/kubernetes-options.ts'
import { visitShards } from '../../../src/gateway/snapshots/whole-snapshot.ts'
import { parseDirective } from '../../ask.ts'
import { type FakeClusterOptions, openFakeCluster } from '../../fake-cluster.ts'

const pause = (): undefined => undefined

describe('visits all shards of a snapshot', () => {
  const cases: { fake: Partial<FakeClusterOptions>; visited: number; isWhole: boolean }[] = [
    { fake: { presence: 'here' }, visited: 4, isWhole: true },
    { fake: { presence: 'later' }, visited: 4, isWhole: true },
    { fake: { presence: 'shards-later' }, visited: 4, isWhole: true },
    { fake: { presence: 'shards-once' }, visited: 1, isWhole: false },
    { fake: { presence: 'shards-lost' }, visited: 0, isWhole: false },
    { fake: { presence: 'never' }, visited: 0, isWhole: false },
    { fake: { freshness: 'stale' }, visited: 4, isWhole: true },
    { fake: { freshness: 'expired' }, visited: 0, isWhole: false },
  ]
  for (const { fake, visited, isWhole } of cases) {
    test(`if it is ${Object.values(fake).join(' ')}`, async () => {
      const options = parseKubernetes(parseDirective('kubernetes cluster.local'), [])
      const reader = openFakeCluster({ objects: '[]', shardCount: 4, ...fake }, options, [])
      let count = 0
      assert.equal(await visitShards(reader, () => count++, { pause }), isWhole)
      assert.equal(count, visited)
    })
  }

  test('of which a newer one arrives in between', async () => {
    const options = parseKubernetes(parseDirective('kubernetes cluster.local'), [])
    const [older, newer] = [1, 2].map((shardCount) => {
      return openFakeCluster({ objects: '[]', shardCount }, options, []).current()
    })
    assert.ok(older && newer)
    const info = { ...newer.info, generation: newer.info.generation + 1 }
    let current = older
    const reader = openFakeCluster({ objects: '[]' }, options, [])
    const replace = (): void => {
      current = Object.assign(Object.create(newer), { info })
    }
    const isWhole = await visitShards({ ...reader, current: () => current }, replace, { pause })
    assert.equal(isWhole, false)
  })

  test('and pauses after each of them', async () => {
    const options = parseKubernetes(parseDirective('kubernetes cluster.local'), [])
    const reader = openFakeCluster({ objects: '[]', shardCount: 4 }, options, [])
    const order: string[] = []
    const visit = (): void => void order.push('shard')
    await visitShards(reader, visit, {
      pause: async () => {
        await Promise.resolve()
        order.push('pause')
      },
    })
    assert.equal(order.join(' '), 'shard pause shard pause shard pause shard pause')
  })
})
