import assert from 'node:assert/strict'
import { test } from 'vitest'
import { StoreError } from '../../src/gateway/store-error.ts'

test('a refusal of a store names the cause to clients, and paths only to the log', () => {
  const cause = new Error('ENOSPC: no space left on device, write /var/lib/tokens.jsonl')
  const kinds = ['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'EROFS', 'EACCES', 'EIO'].map((code) => {
    const error = new StoreError(code, cause)
    assert.ok(error.message.includes(code) && !error.message.includes('/'), error.message)
    assert.equal(error.cause, cause)
    return `${error.status} ${error.code}`
  })
  assert.deepEqual(kinds, [
    '507 no_space',
    '507 no_space',
    '507 no_space',
    '503 read_only',
    '503 no_access',
    '500 storage_failed',
  ])
})
