import assert from 'node:assert/strict'
import type { JWK } from 'jose'
import { describe, test } from 'vitest'
import { encodeBase64url } from '../../../src/dns/bytes/base64url.ts'
import { verifyClaims } from '../../../src/gateway/jwt/jwt.ts'
import { AUDIENCE, ISSUER } from '../access-team.ts'

const NOW_SECONDS = 1_767_225_600
const SKEW_SECONDS = 60
const CLAIMS = { iss: ISSUER, aud: [AUDIENCE], exp: NOW_SECONDS + 600, email: 'a@example.com' }
const HEAD = { alg: 'RS256', kid: 'one' }

type Signer = {
  readonly jwk: JWK
  readonly sign: (head: object, claims: unknown) => Promise<string>
}

async function createSigner(kid: string, bits = 2048): Promise<Signer> {
  const algorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    modulusLength: bits,
    publicExponent: Uint8Array.of(1, 0, 1),
  }
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const { n = '', e = '' } = await crypto.subtle.exportKey('jwk', keys.publicKey)
  const sign = async (head: object, claims: unknown): Promise<string> => {
    const text = `${part(head)}.${part(claims)}`
    const signed = new TextEncoder().encode(text)
    const mark = await crypto.subtle.sign(algorithm.name, keys.privateKey, signed)
    return `${text}.${encodeBase64url(new Uint8Array(mark))}`
  }
  return { jwk: { kty: 'RSA', alg: 'RS256', use: 'sig', kid, n, e }, sign }
}

function part(value: unknown): string {
  return encodeBase64url(new TextEncoder().encode(JSON.stringify(value)))
}

async function verify(token: string, keys: readonly unknown[]): Promise<object | undefined> {
  const expected = { issuer: ISSUER, audiences: [AUDIENCE], algorithms: ['RS256'] }
  const verified = await verifyClaims(token, keys, { ...expected, nowSeconds: NOW_SECONDS })
  return 'claims' in verified ? verified.claims : undefined
}

const one = await createSigner('one')
const two = await createSigner('two')
const weak = await createSigner('one', 1024)

describe('a token that holds', () => {
  const cases: { name: string; head?: object; claims?: object; keys?: readonly JWK[] }[] = [
    { name: 'by one key' },
    { name: 'by the key that it names', keys: [two.jwk, one.jwk] },
    { name: 'by the only key there is', head: { alg: 'RS256' } },
    { name: 'for one audience', claims: { aud: AUDIENCE } },
    { name: 'for several', claims: { aud: ['x', AUDIENCE] } },
    { name: 'in the last second of its life', claims: { exp: NOW_SECONDS - SKEW_SECONDS + 1 } },
    { name: 'from now on', claims: { nbf: NOW_SECONDS + SKEW_SECONDS } },
    { name: 'with a type', head: { ...HEAD, typ: 'JWT' } },
  ]
  for (const { name, head = HEAD, claims = {}, keys = [one.jwk] } of cases) {
    test(`${name}, gives its claims`, async () => {
      const token = await one.sign(head, { ...CLAIMS, ...claims })
      assert.deepEqual(await verify(token, keys), { ...CLAIMS, ...claims })
    })
  }
})

describe('a token that does not hold', () => {
  const cases: {
    name: string
    head?: object
    claims?: unknown
    keys?: readonly JWK[]
    signer?: Signer
    change?: (token: string) => string
  }[] = [
    { name: 'is by another key', signer: two },
    { name: 'is by a key that is too short', signer: weak, keys: [weak.jwk] },
    { name: 'names a key that there is not', head: { ...HEAD, kid: 'three' } },
    { name: 'names no key of two', head: { alg: 'RS256' }, keys: [one.jwk, two.jwk] },
    { name: 'names a key for something else', keys: [{ ...one.jwk, use: 'enc' }] },
    { name: 'names a key for another algorithm', keys: [{ ...one.jwk, alg: 'RS512' }] },
    { name: 'has another algorithm', head: { ...HEAD, alg: 'RS512' } },
    { name: 'has no algorithm', head: { ...HEAD, alg: 'none' } },
    { name: 'is said to be by a shared secret', head: { ...HEAD, alg: 'HS256' } },
    { name: 'has what must be understood', head: { ...HEAD, crit: ['b64'], b64: false } },
    { name: 'is by another issuer', claims: { ...CLAIMS, iss: 'https://evil.example' } },
    { name: 'is for others', claims: { ...CLAIMS, aud: ['x'] } },
    { name: 'is for nobody', claims: { ...CLAIMS, aud: undefined } },
    { name: 'has ended', claims: { ...CLAIMS, exp: NOW_SECONDS - SKEW_SECONDS } },
    { name: 'never ends', claims: { ...CLAIMS, exp: undefined } },
    { name: 'ends at no number', claims: { ...CLAIMS, exp: '2050' } },
    { name: 'has not begun', claims: { ...CLAIMS, nbf: NOW_SECONDS + SKEW_SECONDS + 1 } },
    { name: 'begins at no number', claims: { ...CLAIMS, nbf: 'now' } },
    { name: 'says nothing', claims: [] },
    { name: 'has four parts', change: (token) => `${token}.` },
    { name: 'has two parts', change: (token) => token.slice(0, token.lastIndexOf('.')) },
    { name: 'has no signature', change: (token) => token.slice(0, token.lastIndexOf('.') + 1) },
    { name: 'is changed', change: (token) => token.replace(/\.../, '.fX') },
    { name: 'is empty', change: () => '' },
  ]
  for (const { name, head = HEAD, claims = CLAIMS, keys = [one.jwk], ...rest } of cases) {
    test(`${name}, gives no claims`, async () => {
      const { signer = one, change = (token) => token } = rest
      const token = change(await signer.sign(head, claims))
      assert.equal(await verify(token, keys), undefined)
    })
  }

  test('is any with one bit changed, wherever', async () => {
    const token = await one.sign(HEAD, CLAIMS)
    for (let i = 0; i < token.length; i += 7) {
      const other = token[i] === 'A' ? 'B' : 'A'
      const changed = token.slice(0, i) + other + token.slice(i + 1)
      assert.equal(await verify(changed, [one.jwk]), undefined, `character ${i}`)
    }
  })

  test('is none for keys that are none', async () => {
    const token = await one.sign(HEAD, CLAIMS)
    for (const key of [undefined, 1, {}, { kty: 'RSA', kid: 'one' }, { ...one.jwk, n: '?' }]) {
      assert.equal(await verify(token, [key]), undefined)
    }
    assert.equal(await verify(token, []), undefined)
    assert.deepEqual(await verify(token, [undefined, 1, {}, one.jwk]), CLAIMS)
  })
})
