import assert from 'node:assert/strict'
import { test } from 'vitest'
import { sealed } from '../../src/chain/sealed.ts'

test('sealed signs a message where it is to be signed', () => {
  const message = Uint8Array.of(1)
  const add = (bytes: Uint8Array): Uint8Array => Uint8Array.of(...bytes, 2)
  assert.deepEqual(sealed(message, { bytes: 1, add }), Uint8Array.of(1, 2))
  assert.equal(sealed(message, undefined), message)
})
