import assert from 'node:assert/strict'
import { test } from 'vitest'
import { SnapshotError } from '../../../src/snapshot/format/errors.ts'

test('SnapshotError is an error with a name of its own, and keeps its cause', () => {
  const cause = new TypeError('why')
  const error = new SnapshotError('Cannot open shard', { cause })
  assert.ok(error instanceof Error)
  assert.equal(String(error), 'SnapshotError: Cannot open shard')
  assert.equal(error.cause, cause)
})
