import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { decodeBase64url, encodeBase64url } from '../../../src/dns/bytes/base64url.ts'
import {
  generateKeyPair,
  importPrivateKey,
  importPublicKey,
  isSignedBy,
  sha256Hex,
  signBytes,
} from '../../../src/snapshot/format/signature.ts'

/** What stands in PKCS #8 before the 32 bytes of an Ed25519 key (RFC 8410 §7). */
const PKCS8_HEAD = '302e020100300506032b657004220420'

/** RFC 8032 §7.1, tests 1 to 3. */
const VECTORS = [
  {
    secret: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    open: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155' +
      '5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  },
  {
    secret: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    open: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    message: '72',
    signature:
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da' +
      '085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  },
  {
    secret: 'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
    open: 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    message: 'af82',
    signature:
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac' +
      '18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  },
]

function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'hex'))
}

function base64url(text: string): string {
  return encodeBase64url(hex(text))
}

async function publicKey(): Promise<CryptoKey> {
  return (await importPublicKey(base64url(VECTORS[0]?.open ?? ''))) ?? assert.fail()
}

describe('signatures are Ed25519', () => {
  VECTORS.forEach(({ secret, open, message, signature }, i) => {
    test(`of RFC 8032 §7.1, test ${i + 1}`, async () => {
      const signer = await importPrivateKey(base64url(`${PKCS8_HEAD}${secret}`))
      const reader = await importPublicKey(base64url(open))
      assert.ok(signer !== undefined && reader !== undefined)
      assert.equal(await signBytes(signer, hex(message)), base64url(signature))
      assert.equal(await isSignedBy(reader, hex(message), base64url(signature)), true)
    })
  })
})

describe('isSignedBy is false', () => {
  const { message = '', signature = '' } = VECTORS[0] ?? {}
  const good = base64url(signature)
  const cases: { name: string; bytes?: string; text: string }[] = [
    { name: 'for other bytes', bytes: '00', text: good },
    { name: 'for no signature', text: '' },
    { name: 'for a signature of another key', text: base64url(VECTORS[1]?.signature ?? '') },
    { name: 'for half a signature', text: base64url(signature.slice(64)) },
    { name: 'for a longer signature', text: base64url(`${signature}00`) },
    { name: 'for a signature with padding', text: `${good}==` },
    { name: 'for a signature in base64', text: Buffer.from(signature, 'hex').toString('base64') },
    { name: 'for a signature in hexadecimal digits', text: signature },
  ]
  for (const { name, bytes = message, text } of cases) {
    test(name, async () => {
      const key = await publicKey()
      assert.equal(await isSignedBy(key, hex(bytes), good), bytes === message)
      assert.equal(await isSignedBy(key, hex(bytes), text), false)
    })
  }

  test('for any bit that flipped', async () => {
    const key = await publicKey()
    await fc.assert(
      fc.asyncProperty(fc.nat(63), fc.nat(7), async (at, bit) => {
        const bytes = hex(signature)
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
        assert.equal(await isSignedBy(key, hex(message), encodeBase64url(bytes)), false)
      }),
    )
  })

  test('for any text, and throws nothing', async () => {
    const key = await publicKey()
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.base64String()), async (text) => {
        assert.equal(await isSignedBy(key, hex(message), text), false)
      }),
    )
  })
})

describe('keys as text', () => {
  test('are none of other sizes', async () => {
    for (const size of [0, 31, 33, 64]) {
      assert.equal(await importPublicKey(encodeBase64url(new Uint8Array(size))), undefined)
      assert.equal(await importPrivateKey(encodeBase64url(new Uint8Array(size))), undefined)
    }
  })

  test('are none in base64 with padding', async () => {
    const text = Buffer.alloc(32, 0xff).toString('base64')
    assert.equal(await importPublicKey(text), undefined)
    assert.equal(await importPrivateKey(text), undefined)
  })

  test('are none when the private key is another kind of key', async () => {
    const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
      'sign',
      'verify',
    ])
    const bytes = new Uint8Array(await crypto.subtle.exportKey('pkcs8', pair.privateKey))
    assert.equal(await importPrivateKey(encodeBase64url(bytes)), undefined)
  })

  test('are none, whatever the text, and nothing is thrown', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        assert.equal(await importPrivateKey(text), undefined)
        const bytes = decodeBase64url(text)
        assert.equal((await importPublicKey(text)) === undefined, bytes?.length !== 32)
      }),
    )
  })
})

describe('generateKeyPair', () => {
  test('makes keys that fit each other, and no others', async () => {
    const [one, other] = await Promise.all([generateKeyPair(), generateKeyPair()])
    const signer = (await importPrivateKey(one.privateKey)) ?? assert.fail()
    const reader = (await importPublicKey(one.publicKey)) ?? assert.fail()
    const stranger = (await importPublicKey(other.publicKey)) ?? assert.fail()
    const bytes = new TextEncoder().encode('{}')
    const signature = await signBytes(signer, bytes)
    assert.equal(await isSignedBy(reader, bytes, signature), true)
    assert.equal(await isSignedBy(stranger, bytes, signature), false)
    assert.equal(await isSignedBy([stranger, reader], bytes, signature), true)
    assert.equal(await isSignedBy([stranger, stranger], bytes, signature), false)
    assert.equal(await isSignedBy([], bytes, signature), false)
  })

  test('makes keys of which the private one cannot be exported once it was read', async () => {
    const { privateKey } = await generateKeyPair()
    assert.equal((await importPrivateKey(privateKey))?.extractable, false)
  })
})

describe('sha256Hex', () => {
  // FIPS 180-4, the examples of NIST.
  const cases: { text: string; digest: string }[] = [
    { text: '', digest: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
    { text: 'abc', digest: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' },
  ]
  for (const { text, digest } of cases) {
    test(`of "${text}"`, async () => {
      assert.equal(await sha256Hex(new TextEncoder().encode(text)), digest)
    })
  }

  test('reads a part of a buffer only', async () => {
    const part = new TextEncoder().encode('xabcx').subarray(1, 4)
    assert.equal(await sha256Hex(part), cases[1]?.digest)
  })
})
