import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { type Endpoint, PackedEndpoints } from '../../../src/cluster/objects/packed-endpoints.ts'

/** Few values, so that columns are often alike. */
const text: fc.Arbitrary<string> = fc.constantFrom('', 'a', 'b', '192.0.2.1', '192.0.2.2')
const endpoint: fc.Arbitrary<Endpoint> = fc.record(
  {
    addresses: fc.array(text, { maxLength: 3 }),
    hostname: text,
    targetName: text,
    zone: text,
    isReady: fc.boolean(),
  },
  { noNullPrototype: true },
)

describe('PackedEndpoints', () => {
  test('returns the endpoints that it was made of', () => {
    fc.assert(
      fc.property(fc.array(endpoint, { maxLength: 4 }), (endpoints) => {
        const packed = PackedEndpoints.from(endpoints)
        assert.deepEqual(packed.unpack(), endpoints)
        assert.equal(packed.count, endpoints.length)
      }),
    )
  })

  test('finds an address of any endpoint', () => {
    fc.assert(
      fc.property(fc.array(endpoint, { maxLength: 4 }), fc.uniqueArray(text), (endpoints, some) => {
        const wanted = new Set(some)
        const isFound = endpoints.some(({ addresses }) => addresses.some((one) => wanted.has(one)))
        assert.equal(PackedEndpoints.from(endpoints).hasOneOf(wanted), isFound)
      }),
    )
  })
})
