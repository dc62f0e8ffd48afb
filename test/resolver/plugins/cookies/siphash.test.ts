import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatHex } from '../../../../src/dns/bytes/bytes.ts'
import { sipHash } from '../../../../src/resolver/plugins/cookies/siphash.ts'

/** The reference code's vectors: of the bytes 0 to SIZE - 1, under the key 0 to 15. */
const VECTORS: readonly [size: number, hash: string][] = [
  [0, '310e0edd47db6f72'],
  [1, 'fd67dc93c539f874'],
  [7, '37d1018bf50002ab'],
  [8, '6224939a79f5f593'],
  [15, 'e545be4961ca29a1'],
  [63, '724506eb4c328a95'],
]

describe('sipHash', () => {
  const key = Uint8Array.from({ length: 16 }, (_, i) => i)
  for (const [size, hash] of VECTORS) {
    test(`hashes ${size} bytes as the reference code does`, () => {
      const message = Uint8Array.from({ length: size }, (_, i) => i)
      assert.equal(formatHex(sipHash(key, message)), hash)
    })
  }
})
