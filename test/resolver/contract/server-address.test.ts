import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { serverAddresses } from '../../../src/resolver/contract/server-address.ts'

describe('serverAddresses', () => {
  test('names addresses as CoreDNS does', () => {
    const names = (addresses: readonly string[]): string[] =>
      serverAddresses('dns', 53, addresses).map(({ name }) => name)
    assert.deepEqual(names([]), ['dns://:53'])
    assert.deepEqual(names(['192.0.2.1', '::1']), ['dns://192.0.2.1:53', 'dns://[::1]:53'])
  })
})
