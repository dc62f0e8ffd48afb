import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import type { Shard } from '../../../src/snapshot/read/shard.ts'
import { Visibility } from '../../../src/snapshot/read/visibility.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'
import { rrset } from '../entries.ts'

function shardOf(namespaces: readonly string[]): Shard {
  const sets = namespaces.map((namespace, i) => ({
    ...rrset(`web.${namespace}.svc.cluster.local. 5 IN A 10.0.0.${i + 1}`, namespace),
  }))
  const [bytes] = buildShards(sets, 1)
  assert.ok(bytes)
  return openShard(bytes)
}

describe('Visibility', () => {
  test('asks about each namespace of a shard once', () => {
    const asked: string[] = []
    const visibility = new Visibility((namespace) => {
      asked.push(namespace)
      return namespace === 'shop'
    })
    const [one, other] = [shardOf(['depot', 'shop']), shardOf(['shop', 'zoo'])]
    for (let round = 0; round < 3; round++) {
      for (const shard of [one, other]) {
        shard.namespaces.forEach((namespace, id) => {
          const isSeen = namespace === '' || namespace === 'shop'
          assert.equal(visibility.has(shard, id), isSeen, namespace)
        })
      }
    }
    const wanted = [...one.namespaces, ...other.namespaces]
    assert.deepEqual(asked.sort(), wanted.toSorted())
  })

  test('goes by the labels that a shard has now', () => {
    const visibility = new Visibility(
      (name, facts) => facts?.labels.get(name)?.includes('team=shop') === true,
    )
    const shard = shardOf(['depot', 'shop'])
    const seen = (): string[] => shard.namespaces.filter((_, id) => visibility.has(shard, id))
    assert.deepEqual(seen(), [''])
    shard.facts = { labels: new Map([['shop', ['team=shop']]]) }
    assert.deepEqual(seen(), ['', 'shop'])
    const other = shardOf(['depot'])
    assert.equal(visibility.has(other, 1), false)
    assert.deepEqual(seen(), ['', 'shop'])
    shard.facts = { labels: new Map([['depot', ['a=b', 'team=shop']]]) }
    assert.deepEqual(seen(), ['', 'depot'])
    shard.facts = undefined
    assert.deepEqual(seen(), [''])
  })
})
