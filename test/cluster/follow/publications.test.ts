import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { Exporting, sha256, snapshot } from './exporting.ts'
import { START_MS } from './fake-clock.ts'

describe('shards and manifest in one request', () => {
  const large = (letter: string): string => letter.repeat(1024 * 1024)

  test('are one publication for a change', async () => {
    const exporting = new Exporting()
    exporting.gateway.takesPublications = true
    await exporting.publish(snapshot(['a', 'b']))
    assert.deepEqual(exporting.calls(), ['state', 'manifest'])
    const report = await exporting.publish(snapshot(['c', 'b']))
    assert.deepEqual(exporting.calls(), ['publication'])
    assert.deepEqual([...exporting.gateway.shards.keys()], [await sha256('c')])
    assert.deepEqual([report?.shards, report?.shardBytes], [1, 1])
    await exporting.publish(snapshot(['c', 'b']), START_MS + 9000)
    assert.deepEqual(exporting.calls(), ['manifest'])
  })

  test('are as many publications as two MiB each take', async () => {
    const exporting = new Exporting()
    const { gateway } = exporting
    gateway.takesPublications = true
    const texts = ['a', 'b', 'c', 'd'].map(large)
    const sha256s = await Promise.all(texts.map(sha256))
    gateway.answer(
      { kind: 'missing', sha256s },
      { kind: 'missing', sha256s: sha256s.slice(2) },
      { kind: 'stored', etag: '"e1"' },
    )
    const report = await exporting.publish(snapshot(texts))
    assert.deepEqual(gateway.calls, ['state', 'manifest', 'publication 2', 'publication 2'])
    assert.equal(report?.shards, 4)
  })

  test('are at most 256 shards', async () => {
    const exporting = new Exporting()
    const { gateway } = exporting
    gateway.takesPublications = true
    const texts = Array.from({ length: 512 }, (_, i) => `shard ${i}`)
    const sha256s = await Promise.all(texts.map(sha256))
    gateway.answer({ kind: 'missing', sha256s }, { kind: 'missing', sha256s: sha256s.slice(256) })
    await exporting.publish(snapshot(texts))
    assert.deepEqual(gateway.calls.slice(2), ['publication 256', 'publication 256'])
    assert.deepEqual([...gateway.shards.keys()], sha256s)
  })

  test('go again after another exporter’s manifest, as nothing was stored', async () => {
    const exporting = new Exporting()
    exporting.gateway.takesPublications = true
    await exporting.publish(snapshot(['a']))
    exporting.gateway.answer({ kind: 'changed' })
    const report = await exporting.publish(snapshot(['b']))
    assert.deepEqual(exporting.calls().slice(2), ['publication', 'state', 'publication'])
    assert.equal(report?.shards, 1)
  })

  test('are given up after 16 attempts at a gateway that stores no shard', async () => {
    const exporting = new Exporting()
    exporting.gateway.takesPublications = true
    const missing = { kind: 'missing', sha256s: [await sha256('a')] } as const
    exporting.gateway.answer(...Array.from({ length: 17 }, () => missing))
    await assert.rejects(exporting.publish(snapshot(['a'])), /Gave up after 16 attempts/)
  })

  test('go one by one to a gateway that lacks the route', async () => {
    const exporting = new Exporting()
    await exporting.publish(snapshot(['a']))
    await exporting.publish(snapshot(['b']))
    exporting.gateway.takesPublications = true
    await exporting.publish(snapshot(['c']))
    assert.deepEqual(exporting.calls().slice(2), ['shard', 'manifest', 'shard', 'manifest'])
  })
})
