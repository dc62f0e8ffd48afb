import assert from 'node:assert/strict'
import { test, vi } from 'vitest'
import { rehearseChanges } from '../../../src/cluster/follow/rehearsal.ts'
import { ClusterSnapshots } from '../../../src/cluster/follow/snapshot-builder.ts'
import { namesIn } from './snapshots.ts'

test('a rehearsal builds a cluster, then follows 400 changes of it', () => {
  const taken = vi.spyOn(ClusterSnapshots.prototype, 'take')
  const last = 'web-16.rehearsal.svc'
  const steps = [...rehearseChanges()].length
  assert.ok(steps > 400, `${steps} steps`)
  assert.equal(taken.mock.calls.length, 401)
  const snapshots = taken.mock.contexts.at(-1)
  assert.ok(snapshots instanceof ClusterSnapshots)
  assert.deepEqual(namesIn(snapshots.current(), [last, 'web-64.rehearsal.svc']), [last])
  const built = taken.mock.calls.map(([{ shards }]) => shards)
  // Each differs from the one before, so that a change is built as a watch would have it built.
  for (const [i, shards] of built.entries()) assert.notDeepEqual(shards, built[i - 1])
  taken.mockRestore()
})
