import assert from 'node:assert/strict'
import { test } from 'vitest'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import {
  importPrivateKey,
  importPublicKey,
  isSignedBy,
  signBytes,
} from '../../src/snapshot/format/signature.ts'

test('keys of clusters differ each time', async () => {
  const [one, two] = [await createClusterKeys(), await createClusterKeys()]
  for (const name of ['token', 'signingKey', 'tokenSha256', 'publicKey'] as const) {
    assert.notEqual(one[name], two[name])
  }
  const [key, other] = [
    await importPrivateKey(one.signingKey),
    await importPublicKey(two.publicKey),
  ]
  assert.ok(key !== undefined && other !== undefined)
  const bytes = new TextEncoder().encode('a manifest')
  assert.equal(await isSignedBy(other, bytes, await signBytes(key, bytes)), false)
})
