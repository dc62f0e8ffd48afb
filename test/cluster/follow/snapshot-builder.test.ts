import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  type BuiltSnapshot,
  ClusterSnapshots,
  nextGeneration,
} from '../../../src/cluster/follow/snapshot-builder.ts'
import { nameOf } from '../../../src/dns/names/name.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { contentsOfEntries, contentsOfShards } from '../../snapshot/contents.ts'
import { clusterRecords } from '../cluster-names.ts'
import { clusterOf, optionsOf } from '../naming.ts'
import { clusterAfter, objects, options } from '../random-cluster.ts'
import { FakeClock, START_MS } from './fake-clock.ts'
import { namesIn } from './snapshots.ts'
import { buildSnapshot } from './whole-snapshot.ts'

const WEB = `
- kind: Service
  metadata: { namespace: shop, name: web }
  spec: { clusterIPs: [192.0.2.10, '2001:db8::10'], ports: [{ name: http, port: 80 }] }
`

describe('buildSnapshot', () => {
  test('counts each record and each pointer', () => {
    const { records } = buildSnapshot(clusterOf(WEB), optionsOf())
    const { entries } = clusterRecords(clusterOf(WEB), optionsOf())
    const counts = entries.map((entry) => (entry.kind === 'records' ? entry.rdata.length : 0))
    const pointers = entries.filter(({ kind }) => kind === 'pointer').length
    assert.equal(pointers, 2)
    assert.equal(
      records,
      counts.reduce((sum, count) => sum + count, pointers),
    )
  })

  test('has the options of naming', () => {
    const origins = [nameOf('cluster.local'), nameOf('a\\.b.example.org')]
    const built = buildSnapshot(clusterOf(WEB), optionsOf({ origins, ttlSeconds: 30 }))
    assert.deepEqual(built.origins, ['cluster.local.', 'a\\.b.example.org.'])
    assert.equal(built.ttlSeconds, 30)
  })

  test('passes on warnings', () => {
    const long = 's'.repeat(64)
    const cluster = clusterOf(`[{ kind: Service, metadata: { namespace: shop, name: ${long} } }]`)
    const { warnings } = buildSnapshot(cluster, optionsOf())
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', /^Service shop\/s{64}: its name "s{64}" cannot be a DNS label/)
  })

  test('builds shards with the cluster’s names', () => {
    fc.assert(
      fc.property(objects, options, (some, naming) => {
        const cluster = clusterAfter(some)
        const { shards } = buildSnapshot(cluster, naming)
        const opened = shards.map((bytes) => openShard(bytes))
        const { entries } = clusterRecords(cluster, naming)
        assert.deepEqual(contentsOfShards(opened), contentsOfEntries(entries))
      }),
    )
  })

  test('gives the same bytes for the same objects in any order', () => {
    const shuffled = objects.chain((some) =>
      fc.tuple(
        fc.constant(some),
        fc.shuffledSubarray(some, { minLength: some.length, maxLength: some.length }),
      ),
    )
    fc.assert(
      fc.property(shuffled, options, ([some, others], naming) => {
        const built = buildSnapshot(clusterAfter(some), naming)
        const again = buildSnapshot(clusterAfter(others), naming)
        assert.deepEqual(again.shards, built.shards)
        assert.equal(again.records, built.records)
      }),
      { numRuns: 300 },
    )
  })
})

describe('nextGeneration', () => {
  const cases: { name: string; previous: number; nowMs: number; generation: number }[] = [
    { name: 'is the time in whole seconds', previous: 0, nowMs: 5999, generation: 5 },
    { name: 'rises within a second', previous: 5, nowMs: 5999, generation: 6 },
    { name: 'rises when the clock is set back', previous: 900, nowMs: 5000, generation: 901 },
    { name: 'is 1 at least', previous: 0, nowMs: 0, generation: 1 },
  ]
  for (const { name, previous, nowMs, generation } of cases) {
    test(name, () => {
      assert.equal(nextGeneration(previous, nowMs), generation)
    })
  }
})

const START = START_MS / 1000

/** A snapshot of one Service. */
function built(name: string): BuiltSnapshot {
  const cluster = clusterOf(`
    - kind: Service
      metadata: { namespace: shop, name: ${name} }
      spec: { clusterIP: 192.0.2.10 }
  `)
  return buildSnapshot(cluster, optionsOf({ ttlSeconds: 30 }))
}

describe('ClusterSnapshots', () => {
  test('has none at first', () => {
    assert.equal(new ClusterSnapshots(() => START_MS).current(), undefined)
  })

  test('answers from what it took', () => {
    const snapshots = new ClusterSnapshots(() => START_MS + 5999)
    snapshots.take(built('web'))
    const snapshot = snapshots.current()
    assert.deepEqual(snapshot?.info, {
      generation: START + 5,
      timeMs: START_MS + 5999,
      ttlSeconds: 30,
      origins: [],
    })
    assert.deepEqual(namesIn(snapshot, ['web.shop.svc', 'db.shop.svc']), ['web.shop.svc'])
  })

  const cases: { name: string; next: string; afterMs: number; generation: number }[] = [
    {
      name: 'gives a snapshot that says something else the time as its generation',
      next: 'db',
      afterMs: 7000,
      generation: START + 7,
    },
    {
      name: 'gives it a later one even within the same second',
      next: 'db',
      afterMs: 1,
      generation: START + 1,
    },
    {
      name: 'gives it a later one even when the clock was set back',
      next: 'db',
      afterMs: -60_000,
      generation: START + 1,
    },
    {
      name: 'keeps the generation of one that says the same',
      next: 'web',
      afterMs: 7000,
      generation: START,
    },
  ]
  for (const { name, next, afterMs, generation } of cases) {
    test(name, () => {
      const clock = new FakeClock()
      const snapshots = new ClusterSnapshots(clock.now)
      snapshots.take(built('web'))
      clock.setBack(-afterMs)
      snapshots.take(built(next))
      assert.equal(snapshots.current()?.info.generation, generation)
      assert.deepEqual(namesIn(snapshots.current(), [`${next}.shop.svc`]), [`${next}.shop.svc`])
    })
  }

  test('distinguishes snapshots by their shards, however many there are', () => {
    const snapshots = new ClusterSnapshots(() => START_MS)
    const [web = new Uint8Array(0)] = built('web').shards
    const [db = new Uint8Array(0)] = built('db').shards
    const sets = [[web], [web, web], [web, db], [web, db], [db, web], [db]]
    const generations = sets.map((shards) => {
      snapshots.take({ ...built('web'), shards })
      return (snapshots.current()?.info.generation ?? 0) - START
    })
    assert.deepEqual(generations, [0, 1, 2, 2, 3, 4])
  })
})
