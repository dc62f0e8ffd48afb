import assert from 'node:assert/strict'
import { test } from 'vitest'
import { signed } from '../../../src/resolver/contract/message-signer.ts'

test('signed signs a message where it is to be signed', () => {
  const message = Uint8Array.of(1)
  const sign = (bytes: Uint8Array): Uint8Array => Uint8Array.of(...bytes, 2)
  assert.deepEqual(signed(message, { bytes: 1, sign }), Uint8Array.of(1, 2))
  assert.equal(signed(message, undefined), message)
})
