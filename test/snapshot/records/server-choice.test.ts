import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { readServerChoice, writeServerChoice } from '../../../src/snapshot/records/server-choice.ts'

describe('a name server as rdata', () => {
  test('is read as it was written', () => {
    const bytes = (size: number): fc.Arbitrary<Uint8Array> =>
      fc.uint8Array({ minLength: size, maxLength: size })
    const choice = fc.record({
      namespace: fc.constantFrom('', 'shop', 'a'.repeat(63)),
      address: fc.oneof(bytes(0), bytes(4), bytes(16)),
      target: fc.uint8Array({ maxLength: 254 }),
    })
    fc.assert(
      fc.property(choice, (one) => {
        const { namespace, address, target } = readServerChoice(writeServerChoice(one).bytes)
        assert.equal(namespace, one.namespace)
        assert.deepEqual([...address, 256, ...target], [...one.address, 256, ...one.target])
      }),
    )
  })

  test('never throws, and has an address that is one, or none', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        assert.ok([0, 4, 16].includes(readServerChoice(bytes).address.length))
      }),
    )
  })
})
