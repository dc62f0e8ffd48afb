import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { KeyTree } from '../../../src/cluster/follow/key-tree.ts'
import { ROOT } from '../../../src/dns/names/name.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { shardRecords } from '../../../src/snapshot/read/shard-records.ts'
import { readStoredKey, type StoredKey } from '../../../src/snapshot/records/stored-keys.ts'

function stored(key: string, value = '{}', lease = ''): StoredKey {
  return { key, value, lease }
}

function treeOf(keys: readonly StoredKey[], keysMax?: number): { tree: KeyTree; news: string[] } {
  const news: string[] = []
  const relist = (): unknown => news.push('relist')
  const tree = new KeyTree((message) => news.push(message), { relist, ...(keysMax && { keysMax }) })
  for (const key of keys) tree.set(key)
  tree.complete()
  return { tree, news }
}

/** The keys in a built tree, sorted. */
function keysIn(tree: KeyTree): (StoredKey | undefined)[] {
  const shards = tree.build()?.shards ?? []
  const records = shards.flatMap((bytes) => [...shardRecords(openShard(bytes), ROOT)])
  const keys = records.map(({ rdata }) => readStoredKey(rdata))
  return keys.sort((a, b) => ((a?.key ?? '') < (b?.key ?? '') ? -1 : 1))
}

describe('the tree of the keys of an etcd', () => {
  test('has the keys as they are, with one identifier for all leases', () => {
    const { tree } = treeOf([stored('/a', '{"host":"\u00fc"}'), stored('/b\u00c3', 'x', '77')])
    tree.set(stored('/c'))
    tree.set(stored('/a', '2'))
    tree.delete('/c')
    tree.delete('/none')
    assert.deepEqual(keysIn(tree), [stored('/a', '2'), stored('/b\u00c3', 'x', 'lease')])
    assert.equal(tree.count, 2)
  })

  test('stays the same arrays without a change, and when only a lease is renewed', () => {
    const keys = Array.from({ length: 4000 }, (_, i) => stored(`/skydns/k${i}`, '{}', '1'))
    const { tree } = treeOf(keys)
    const before = tree.build()
    assert.equal(tree.build(), before)
    tree.set(stored('/skydns/k7', '{}', '2'))
    assert.deepEqual(tree.build()?.shards, before?.shards)
    tree.set(stored('/skydns/k7', '{"port":1}', '2'))
    const after = tree.build()
    const differing = after?.shards.filter((shard) => !before?.shards.includes(shard))
    assert.ok((before?.shards.length ?? 0) >= 8)
    assert.equal(differing?.length, 1)
  })

  test('is awaited until all keys are read, and missing if that takes too long', () => {
    const tree = new KeyTree(assert.fail)
    tree.set(stored('/a'))
    assert.deepEqual([tree.isAwaited, tree.build()], [true, undefined])
    tree.proceed()
    assert.deepEqual([tree.isAwaited, tree.build()], [false, undefined])
    tree.complete()
    assert.deepEqual(keysIn(tree), [stored('/a')])
  })

  test('stays as it was while there are too many keys, with one warning', () => {
    const { tree, news } = treeOf([stored('/a'), stored('/b')], 2)
    tree.build()
    tree.set(stored('/c'))
    tree.set(stored('/a', '2'))
    assert.deepEqual(keysIn(tree), [stored('/a'), stored('/b')])
    assert.deepEqual(keysIn(tree), [stored('/a'), stored('/b')])
    assert.deepEqual(news, [
      'etcd: more than 2 keys or 16 MiB; its names stay as they were published last',
    ])
    tree.delete('/b')
    assert.deepEqual(keysIn(tree), [stored('/a'), stored('/b')])
    assert.deepEqual(news.slice(1), ['relist'])
    for (const key of [stored('/a', '2'), stored('/c')]) tree.set(key)
    assert.deepEqual(keysIn(tree), [stored('/a', '2'), stored('/c')])
    assert.equal(news.length, 2)
  })

  test('keeps at most 16 MiB of values, and has the keys listed again once they fit', () => {
    const { tree, news } = treeOf([stored('/a')])
    tree.build()
    const large = (i: number): StoredKey => stored(`/${i}`, String(i % 10).repeat(60_000))
    for (let i = 0; i < 300; i++) tree.set(large(i))
    assert.deepEqual(keysIn(tree), [stored('/a')])
    assert.equal(news.length, 1)
    for (let i = 10; i < 295; i++) tree.delete(`/${i}`)
    tree.delete('/a')
    assert.deepEqual(keysIn(tree), [stored('/a')])
    assert.deepEqual(news.slice(1), ['relist'])
    const kept = [...Array(10).keys(), 295, 296, 297, 298, 299].map(large)
    for (const key of kept) tree.set(key)
    assert.equal(keysIn(tree).length, 15)
    assert.deepEqual(
      keysIn(tree).map((one) => one?.value),
      kept.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ value }) => value),
    )
  })

  test('is not held up by one value that is too large', () => {
    const { tree, news } = treeOf([stored('/a')])
    tree.build()
    tree.set(stored('/b', 'x'.repeat(16 * 1024 * 1024)))
    assert.deepEqual(keysIn(tree), [stored('/a'), stored('/b', '')])
    assert.deepEqual(news, [])
  })

  test('reports the first 20 keys that are too long, each once', () => {
    const { tree, news } = treeOf([])
    for (let list = 0; list < 3; list++) {
      for (let i = 0; i < 30; i++) tree.set(stored(`/${i}${'/l'.repeat(3000)}`))
    }
    assert.equal(news.length, 20)
    assert.match(news[18] ?? '', /"\/18\/l[^;]*$/)
    assert.match(news[19] ?? '', /"\/19\/l.*; further ones are not logged$/)
  })

  test('has no key over 4096 bytes, and an invalid value for one that does not fit', () => {
    const { tree, news } = treeOf([
      stored('/l'.repeat(3000)),
      stored('/v', 'x'.repeat(70_000)),
      stored('/w', 'y'.repeat(60_000)),
    ])
    assert.deepEqual(keysIn(tree), [stored('/v', ''), stored('/w', 'y'.repeat(60_000))])
    assert.match(news.join(), /^a key of etcd has over 4096 bytes: "\/l/)
  })
})
