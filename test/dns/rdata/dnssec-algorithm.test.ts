import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ALGORITHM, parseAlgorithm } from '../../../src/dns/rdata/dnssec-algorithm.ts'

describe('parseAlgorithm', () => {
  const cases: { text: string; is: number | undefined }[] = [
    { text: 'ECDSAP256SHA256', is: ALGORITHM.ECDSAP256SHA256 },
    { text: 'ed25519', is: 15 },
    { text: 'DSA-NSEC3-SHA1', is: 6 },
    { text: '13', is: 13 },
    { text: '0', is: 0 },
    { text: '255', is: 255 },
    { text: '256', is: undefined },
    { text: '', is: undefined },
    { text: 'toString', is: undefined },
    { text: '-1', is: undefined },
  ]
  for (const { text, is } of cases) {
    test(`"${text}" is ${is ?? 'none'}`, () => {
      assert.equal(parseAlgorithm(text), is)
    })
  }
})
