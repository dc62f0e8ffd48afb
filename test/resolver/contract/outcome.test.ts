import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { RCODE } from '../../../src/dns/names/rcode.ts'
import { extendedError } from '../../../src/dns/wire/edns.ts'
import { failure } from '../../../src/resolver/contract/outcome.ts'

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
