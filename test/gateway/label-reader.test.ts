import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { Snapshot } from '../../src/snapshot/read/snapshot.ts'
import { snapshotOf, WEB } from './publishing.ts'
import { Reading, signingKey } from './reading.ts'

const SETS = [WEB, WEB.replace('web', 'api'), WEB.replace('web', 'db')]
const first = await snapshotOf(signingKey, SETS, { shardCount: 2, labels: { shop: ['team=a'] } })
const changed = { shardCount: 2, generation: 2, labels: { shop: ['team=b'] } }
const second = await snapshotOf(signingKey, SETS, changed)
const bare = await snapshotOf(signingKey, SETS, { shardCount: 2, generation: 2 })

/** Labels of namespace `shop` in each shard that is loaded. */
function labelsIn(snapshot: Snapshot | undefined): (readonly string[] | undefined)[] | undefined {
  return snapshot?.shards.map((shard) => shard?.facts?.labels.get('shop'))
}

function reads({ reads: all }: Reading): number {
  return all.splice(0).length
}

describe('a reader of labels', () => {
  test('reads none as long as nobody needs them', async () => {
    const reading = new Reading(first)
    assert.deepEqual(labelsIn(await reading.load()), [undefined, undefined])
    assert.equal(reads(reading), 3)
  })

  test('reads them with the manifest, and once', async () => {
    const reading = new Reading(first)
    reading.needsLabels = true
    await reading.reader.reload()
    assert.equal(reads(reading), 2)
    assert.deepEqual(labelsIn(await reading.load()), [['team=a'], ['team=a']])
    assert.equal(reads(reading), 3)
  })

  test('reads them when they come to be needed, and has nothing before', async () => {
    const reading = new Reading(first)
    const before = await reading.load()
    assert.equal(reading.reader.current(), before)
    reading.needsLabels = true
    assert.equal(reading.reader.current(), undefined)
    assert.deepEqual(labelsIn(await reading.reader.reload()), [['team=a'], ['team=a']])
    assert.equal(reading.reader.current(), before)
  })

  test('goes over to new ones at once in all shards, also where no name changed', async () => {
    const reading = new Reading(first)
    reading.needsLabels = true
    await reading.load()
    reading.published = second
    reads(reading)
    const after = await reading.reader.reload()
    assert.deepEqual(labelsIn(after), [['team=b'], ['team=b']])
    assert.equal(after?.info.generation, 2)
    assert.equal(reads(reading), 2)
    reading.published = bare
    await reading.reader.reload()
    assert.deepEqual(labelsIn(await reading.load()), [['team=b'], ['team=b']])
  })

  test('has none where a cluster publishes none', async () => {
    const reading = new Reading(bare)
    reading.needsLabels = true
    assert.deepEqual(labelsIn(await reading.load()), [undefined, undefined])
    assert.notEqual(reading.reader.current(), undefined)
  })

  test('keeps its labels when new ones cannot be loaded', async () => {
    const reading = new Reading(first)
    reading.needsLabels = true
    const before = await reading.load()
    reading.published = { ...second, shards: new Map() }
    assert.equal(await reading.reader.reload(), before)
    assert.deepEqual(labelsIn(before), [['team=a'], ['team=a']])
    assert.match(reading.errors.join(), /Cannot load namespace labels: a shard is missing/)
  })

  test('has nothing rather than names without the labels that are needed', async () => {
    const cold = new Reading({ ...first, shards: new Map() })
    cold.needsLabels = true
    assert.equal(await cold.reader.reload(), undefined)
    const warm = new Reading(first)
    await warm.load()
    warm.needsLabels = true
    warm.failure = new Error('the store is away')
    assert.equal(await warm.reader.load(), undefined)
    assert.equal(await warm.reader.load(0), undefined)
    assert.equal(warm.reader.current(), undefined)
    warm.failure = undefined
    warm.nowMs += 1000
    assert.deepEqual(labelsIn(await warm.reader.load(0)), [['team=a'], ['team=a']])
  })
})
