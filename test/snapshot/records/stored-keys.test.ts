import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readStoredKey, writeStoredKey } from '../../../src/snapshot/records/stored-keys.ts'

describe('a stored key', () => {
  const cases: [lease: string, read: string][] = [
    ['', ''],
    ['77', 'lease'],
  ]
  for (const [lease, read] of cases) {
    test(`is read as it was written, with the lease "${lease}" as "${read}"`, () => {
      const stored = { key: '/a/\u00c3\u00bc"', value: '{"host":"\u{1f600}"}' }
      const { bytes } = writeStoredKey({ ...stored, lease })
      assert.deepEqual(readStoredKey(bytes), { ...stored, lease: read })
    })
  }

  test('has no value if that does not fit', () => {
    const { bytes } = writeStoredKey({ key: '/a', value: '"'.repeat(33_000), lease: '' })
    assert.deepEqual(readStoredKey(bytes), { key: '/a', value: '', lease: '' })
  })

  for (const text of ['', '{', '{}', '[]', '["a"]', '["a",1]', '["a","b",3]', 'null']) {
    test(`is not read from "${text}"`, () => {
      assert.equal(readStoredKey(new TextEncoder().encode(text)), undefined)
    })
  }
})
