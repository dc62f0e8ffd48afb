import assert from 'node:assert/strict'
import { test } from 'vitest'
import { SnapshotAge } from '../../../src/gateway/snapshots/snapshot-age.ts'
import { FakeHost } from '../../fake-host.ts'

const LIMITS = { staleMs: 60_000, expireMs: 3_600_000 }
const INFO = { generation: 1, ttlSeconds: 5, records: 1, origins: [] }

test('names are fresh, then stale, then expired', async () => {
  const host = new FakeHost()
  const age = new SnapshotAge(host)
  assert.equal(age.freshness(LIMITS, false), 'expired')
  age.note({ ...INFO, timeMs: host.now() })
  assert.equal(age.freshness(LIMITS, false), 'fresh')
  await host.advance(60_000)
  assert.equal(age.freshness(LIMITS, false), 'stale')
  await host.advance(3_540_000)
  assert.equal(age.freshness(LIMITS, false), 'expired')
})

test('a limited client gets the age of its own names, whatever else changes', async () => {
  const host = new FakeHost()
  const age = new SnapshotAge(host)
  const limited = { ...INFO, timeMs: host.now() }
  age.note({ ...INFO, timeMs: host.now(), limited })
  await host.advance(9000)
  age.note({ ...INFO, timeMs: host.now(), limited })
  assert.deepEqual([age.ageMs(false), age.ageMs(true)], [0, 9000])
})
