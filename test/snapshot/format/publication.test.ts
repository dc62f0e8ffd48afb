import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'vitest'
import { EMPTY } from '../../../src/dns/bytes/bytes.ts'
import {
  formatPublication,
  PUBLICATION_SHARDS_MAX,
  parsePublication,
} from '../../../src/snapshot/format/publication.ts'

const part = fc.uint8Array({ maxLength: 40 })

test('reads what it writes', () => {
  fc.assert(
    fc.property(part, fc.array(part, { maxLength: 5 }), (manifest, shards) => {
      assert.deepEqual(parsePublication(formatPublication({ manifest, shards })), {
        manifest,
        shards,
      })
    }),
  )
})

test('refuses bytes that are cut off, and none', () => {
  const bytes = formatPublication({ manifest: Uint8Array.of(1, 2), shards: [Uint8Array.of(3)] })
  const whole = [6, 11]
  for (let size = 0; size < bytes.length; size++) {
    const read = parsePublication(bytes.subarray(0, size))
    assert.equal(read !== undefined, whole.includes(size), `${size} bytes`)
  }
  assert.equal(parsePublication(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0)), undefined)
})

test('refuses more than 256 shards', () => {
  const shards = new Array<Uint8Array>(PUBLICATION_SHARDS_MAX).fill(EMPTY)
  assert.ok(parsePublication(formatPublication({ manifest: EMPTY, shards })))
  const more = formatPublication({ manifest: EMPTY, shards: [...shards, EMPTY] })
  assert.equal(parsePublication(more), undefined)
})
