import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { labelRecords } from '../../../src/cluster/trees/namespace-labels.ts'
import { NO_LABELS, readLabels } from '../../../src/snapshot/read/namespace-labels.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { buildShards } from '../../../src/snapshot/write/build-shards.ts'

describe('labels that were published', () => {
  const labels = new Map([
    ['team', 'shop'],
    ['empty', ''],
    [`${'k'.repeat(253)}/${'n'.repeat(63)}`, 'v'.repeat(63)],
    ['umlaut', 'ä'.repeat(31)],
  ])
  const namespaces = ['shop', 'blog'].map((name) => {
    return { kind: 'Namespace', namespace: '', name, labels } as const
  })
  const texts = [...labels].map(([key, value]) => `${key}=${value}`).sort()

  for (const count of [1, 4]) {
    test(`are read as they were, from ${count} shards`, () => {
      const shards = buildShards(labelRecords(namespaces).entries, count)
      const read = readLabels(shards.map((bytes) => openShard(bytes)))
      assert.deepEqual([...read.keys()].sort(), ['blog', 'shop'])
      assert.deepEqual(read.get('shop')?.toSorted(), texts)
    })
  }

  test('are empty without any', () => {
    assert.deepEqual(readLabels([]), NO_LABELS)
  })
})
