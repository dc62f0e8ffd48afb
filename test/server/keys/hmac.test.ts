import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatHex } from '../../../src/dns/bytes/bytes.ts'
import type { Digest } from '../../../src/resolver/plugins/tsig/verify.ts'
import { hmac } from '../../../src/server/keys/hmac.ts'

describe('hmac', () => {
  // Test case 2 of RFC 2202 §3 and RFC 4231 §4.3: the first bytes of each.
  const cases: { digest: Digest; bytes: number; begin: string }[] = [
    { digest: 'sha1', bytes: 20, begin: 'effcdf6ae5eb2fa2' },
    { digest: 'sha224', bytes: 28, begin: 'a30e01098bc6dbbf' },
    { digest: 'sha256', bytes: 32, begin: '5bdcc146bf60754e' },
    { digest: 'sha384', bytes: 48, begin: 'af45d2e376484031' },
    { digest: 'sha512', bytes: 64, begin: '164b7a7bfcf819e2' },
  ]
  for (const { digest, bytes, begin } of cases) {
    test(`makes ${bytes} bytes by ${digest}`, () => {
      const text = new TextEncoder()
      const mac = hmac(digest, text.encode('Jefe'), text.encode('what do ya want for nothing?'))
      assert.equal(mac.length, bytes)
      assert.equal(formatHex(mac.subarray(0, 8)), begin)
    })
  }
})
