import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readNamespaceNames } from '../../../src/snapshot/format/namespace-names.ts'

const LONG = 'x'.repeat(300)

/** Names as a shard has them. */
function written(names: readonly string[]): Uint8Array {
  return Buffer.concat(
    names.map((name) => {
      const octets = Buffer.from(name)
      return Buffer.concat([Buffer.of(octets.length & 0xff, octets.length >>> 8), octets])
    }),
  )
}

describe('readNamespaceNames', () => {
  const cases: { name: string; names: readonly string[] }[] = [
    { name: 'none', names: [] },
    { name: 'the empty one', names: [''] },
    { name: 'some', names: ['', 'blog', 'shop'] },
    { name: 'some that are not ASCII', names: ['', 'blög', 'shop', '店'] },
    { name: 'one whose size is no ASCII', names: ['', 'y'.repeat(200), 'shop'] },
    { name: 'one whose size takes both bytes', names: ['', LONG, 'shop'] },
  ]
  for (const { name, names } of cases) {
    test(`reads ${name}`, () => {
      assert.deepEqual(readNamespaceNames(written(names), names.length), names)
    })
  }

  test('ignores the bytes after them', () => {
    const bytes = Buffer.concat([written(['', 'shop']), Buffer.of(0xff, 0xff, 0xff)])
    assert.deepEqual(readNamespaceNames(bytes, 2), ['', 'shop'])
  })
})
