import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, verify } from 'node:crypto'
import { describe, test } from 'vitest'
import type { SigningKeys } from '../../../src/resolver/plugins/dnssec/key-file.ts'
import { openSigner } from '../../../src/server/keys/open-signer.ts'

const DATA = new TextEncoder().encode('what is signed')

type Pair = { readonly publicKey: KeyObject; readonly privateKey: KeyObject }

function pair(algorithm: number): Pair {
  switch (algorithm) {
    case 13:
      return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    case 14:
      return generateKeyPairSync('ec', { namedCurve: 'P-384' })
    case 15:
      return generateKeyPairSync('ed25519')
    default:
      return generateKeyPairSync('rsa', { modulusLength: 1024 })
  }
}

/** The fields of an exported key that are text, which all are. */
function jwkOf({ privateKey }: Pair): SigningKeys {
  const fields = Object.entries(privateKey.export({ format: 'jwk' }))
  return Object.fromEntries(
    fields.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}

describe('openSigner', () => {
  const cases: { algorithm: number; digest: string | undefined; bytes: number }[] = [
    { algorithm: 5, digest: 'sha1', bytes: 128 },
    { algorithm: 7, digest: 'sha1', bytes: 128 },
    { algorithm: 8, digest: 'sha256', bytes: 128 },
    { algorithm: 10, digest: 'sha512', bytes: 128 },
    { algorithm: 13, digest: 'sha256', bytes: 64 },
    { algorithm: 14, digest: 'sha384', bytes: 96 },
    { algorithm: 15, digest: undefined, bytes: 64 },
  ]
  for (const { algorithm, digest, bytes } of cases) {
    test(`signs for algorithm ${algorithm} in ${bytes} bytes`, () => {
      const keys = pair(algorithm)
      const signature = openSigner(algorithm, jwkOf(keys))(DATA)
      assert.equal(signature.length, bytes)
      const by = { key: keys.publicKey, dsaEncoding: 'ieee-p1363' } as const
      assert.ok(verify(digest, DATA, by, signature))
    })
  }

  test('refuses halves that do not belong together', () => {
    const { x = '', y = '' } = jwkOf(pair(13))
    assert.throws(() => openSigner(13, { ...jwkOf(pair(13)), x, y }))
  })

  test('rejects invalid keys', () => {
    assert.throws(() => openSigner(13, { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', d: 'AA' }))
  })

  test('rejects obsolete algorithms', () => {
    assert.throws(() => openSigner(1, jwkOf(pair(8))), /Cannot sign with algorithm 1$/)
  })
})
