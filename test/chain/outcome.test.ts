import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { failure } from '../../src/chain/outcome.ts'
import { extendedError } from '../../src/dns/edns.ts'
import { RCODE } from '../../src/dns/rcode.ts'

describe('failure', () => {
  test('has no reason and no options when none is given', () => {
    assert.deepEqual(failure(RCODE.REFUSED), { kind: 'failure', rcode: 5, options: [] })
  })

  test('keeps reason and options', () => {
    const option = extendedError(14, 'not ready')
    assert.deepEqual(failure(RCODE.SERVFAIL, 'why', [option]), {
      kind: 'failure',
      rcode: 2,
      reason: 'why',
      options: [option],
    })
  })
})
