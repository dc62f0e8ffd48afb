/**
 * The known attacks on JSON Web Tokens (RFC 8725, and vulnerabilities of libraries), at a gateway:
 * each token differs from a good one in one thing, and gets the 401 that everything gets.
 */
import assert from 'node:assert/strict'
import { createHmac, createSign, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, test } from 'vitest'
import { encodeBase64url } from '../../../src/dns/bytes/base64url.ts'
import { START_MS } from '../../fake-host.ts'
import { QUESTION, Running } from '../running.ts'

const ISSUER = 'https://login.example.test'
const NOW = Math.floor(START_MS / 1000)
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 })
const EC = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const STRANGER = generateKeyPairSync('rsa', { modulusLength: 2048 })
const KEYS = [
  { ...RSA.publicKey.export({ format: 'jwk' }), kid: 'rsa', use: 'sig', alg: 'RS256' },
  { ...EC.publicKey.export({ format: 'jwk' }), kid: 'ec', use: 'sig', alg: 'ES256' },
]
const CLAIMS = { iss: ISSUER, aud: 'kubedoh', sub: 'ann', exp: NOW + 600, iat: NOW }
const HEAD = { alg: 'RS256', kid: 'rsa', typ: 'JWT' }
const PEM = RSA.publicKey.export({ format: 'pem', type: 'spki' })
const DER = RSA.publicKey.export({ format: 'der', type: 'spki' })

type Signer = (text: string) => Uint8Array

const rsa =
  (key: KeyObject = RSA.privateKey, hash = 'sha256'): Signer =>
  (text) =>
    createSign(hash).update(text).sign(key)
const pss: Signer = (text) =>
  sign('sha256', Buffer.from(text), { key: RSA.privateKey, padding: 6, saltLength: 32 })
const ec =
  (dsaEncoding: 'ieee-p1363' | 'der'): Signer =>
  (text) =>
    sign('sha256', Buffer.from(text), { key: EC.privateKey, dsaEncoding })
const hmac =
  (secret: string | Uint8Array): Signer =>
  (text) =>
    createHmac('sha256', secret).update(text).digest()
const bytes =
  (value: Uint8Array): Signer =>
  () =>
    value

function part(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return encodeBase64url(new TextEncoder().encode(text))
}

type Attack = {
  readonly head?: unknown
  readonly claims?: unknown
  readonly signer?: Signer
  readonly change?: (token: string) => string
}

function tokenOf({ head = HEAD, claims = CLAIMS, signer = rsa(), change }: Attack): string {
  const text = `${part(head)}.${part(claims)}`
  const token = `${text}.${encodeBase64url(signer(text))}`
  return change === undefined ? token : change(token)
}

const parts = (token: string): readonly [string, string, string] => {
  const [head = '', claims = '', mark = ''] = token.split('.')
  return [head, claims, mark]
}
const headed = (more: object): Attack => ({ head: { ...HEAD, ...more } })
const claimed = (more: object): Attack => ({ claims: { ...CLAIMS, ...more } })
const unsigned = (alg: unknown): Attack => ({
  head: { ...HEAD, alg },
  signer: bytes(new Uint8Array(0)),
})
const zeros = bytes(new Uint8Array(64))
/** Text of claims with one more member, which JSON.stringify would not write. */
const raw = (member: string): Attack => ({
  claims: `${JSON.stringify(CLAIMS).slice(0, -1)},${member}}`,
})

const ATTACKS: Readonly<Record<string, Readonly<Record<string, Attack>>>> = {
  'the algorithm': {
    none: unsigned('none'),
    None: unsigned('None'),
    NONE: unsigned('NONE'),
    'nOnE, with a signature': headed({ alg: 'nOnE' }),
    'none, with a signature': headed({ alg: 'none' }),
    'of nothing': unsigned(undefined),
    null: unsigned(null),
    'an empty text': unsigned(''),
    'a list': headed({ alg: ['RS256'] }),
    'HS256 by the public key as PEM': { ...headed({ alg: 'HS256' }), signer: hmac(PEM) },
    'HS256 by the PEM without its last line break': {
      ...headed({ alg: 'HS256' }),
      signer: hmac(String(PEM).trimEnd()),
    },
    'HS256 by the public key as DER': { ...headed({ alg: 'HS256' }), signer: hmac(DER) },
    'HS256 by the modulus': { ...headed({ alg: 'HS256' }), signer: hmac(String(KEYS[0]?.n)) },
    'HS256 by the key as JSON': {
      ...headed({ alg: 'HS256' }),
      signer: hmac(JSON.stringify(KEYS[0])),
    },
    'HS256 by an empty secret': { ...headed({ alg: 'HS256' }), signer: hmac('') },
    'HS256 by a null byte': {
      ...headed({ alg: 'HS256', kid: '/dev/null' }),
      signer: hmac(Uint8Array.of(0)),
    },
    'RS512, which is not listed': {
      ...headed({ alg: 'RS512' }),
      signer: rsa(RSA.privateKey, 'sha512'),
    },
    RS1: { ...headed({ alg: 'RS1' }), signer: rsa(RSA.privateKey, 'sha1') },
    'PS256 by the key for RS256': { ...headed({ alg: 'PS256' }), signer: pss },
    'RS256 in the header, PS256 in the signature': { signer: pss },
    'ES256 with the key for RS256': { ...headed({ alg: 'ES256' }), signer: ec('ieee-p1363') },
    'RS256 with the key for ES256': { ...headed({ kid: 'ec' }), signer: rsa() },
    EdDSA: headed({ alg: 'EdDSA' }),
    'of another case': headed({ alg: 'rs256' }),
  },
  'the signature': {
    missing: { change: (token) => parts(token).slice(0, 2).join('.') },
    empty: { change: (token) => `${parts(token).slice(0, 2).join('.')}.` },
    'by a stranger': { signer: rsa(STRANGER.privateKey) },
    'of other claims': {
      change: (token) =>
        [parts(token)[0], part({ ...CLAIMS, sub: 'bob' }), parts(token)[2]].join('.'),
    },
    'of another header': {
      change: (token) => [part({ ...HEAD, x: 1 }), ...parts(token).slice(1)].join('.'),
    },
    'without its last byte': { change: (token) => token.slice(0, -2) },
    'with a byte more': { signer: (text) => Buffer.concat([rsa()(text), Uint8Array.of(0)]) },
    'of zeros, ES256 (CVE-2022-21449)': { ...headed({ alg: 'ES256', kid: 'ec' }), signer: zeros },
    'of ES256 as DER': { ...headed({ alg: 'ES256', kid: 'ec' }), signer: ec('der') },
    'of zeros, RS256': { signer: bytes(new Uint8Array(256)) },
    'of one byte': { signer: bytes(Uint8Array.of(1)) },
    'in base64 with padding': { change: (token) => `${token}==` },
    'in the other alphabet of base64': {
      change: (token) => {
        const [a, b, c] = parts(token)
        return `${a}.${b}.${c.replaceAll('-', '+').replaceAll('_', '/')}+`
      },
    },
    'with bits that nobody reads': {
      change: (token) =>
        token.slice(0, -1) + String.fromCharCode(token.charCodeAt(token.length - 1) + 1),
    },
  },
  'the key': {
    'in the header (CVE-2018-0114)': {
      ...headed({ kid: undefined, jwk: STRANGER.publicKey.export({ format: 'jwk' }) }),
      signer: rsa(STRANGER.privateKey),
    },
    'in the header, beside a known kid': {
      ...headed({ jwk: STRANGER.publicKey.export({ format: 'jwk' }) }),
      signer: rsa(STRANGER.privateKey),
    },
    'at a URL of the header (jku)': {
      ...headed({ jku: 'https://evil.example.test/keys' }),
      signer: rsa(STRANGER.privateKey),
    },
    'at a URL of certificates (x5u)': {
      ...headed({ x5u: 'https://evil.example.test/cert' }),
      signer: rsa(STRANGER.privateKey),
    },
    'in a certificate (x5c)': { ...headed({ x5c: ['AAAA'] }), signer: rsa(STRANGER.privateKey) },
    unknown: headed({ kid: 'other' }),
    'a path': headed({ kid: '../../../../dev/null' }),
    'of a database': headed({ kid: "x' UNION SELECT 'secret" }),
    'of a prototype': headed({ kid: '__proto__' }),
    'a number': headed({ kid: 1 }),
    null: headed({ kid: null }),
  },
  'the form': {
    'what must be understood (crit)': headed({ crit: ['exp'], exp: 1 }),
    'what must be understood, unknown': headed({
      crit: ['https://example.test/x'],
      'https://example.test/x': 1,
    }),
    'an unencoded payload (RFC 7797)': headed({ crit: ['b64'], b64: false }),
    'five parts (JWE)': { change: (token) => `${token}.a.b` },
    'four parts': { change: (token) => `${token}.` },
    'one part': { change: (token) => token.replaceAll('.', '') },
    'JSON in place of compact': {
      change: (token) =>
        JSON.stringify({
          payload: parts(token)[1],
          protected: parts(token)[0],
          signature: parts(token)[2],
        }),
    },
    'a header that is a list': { head: [HEAD] },
    'a header that is null': { head: null },
    'a header that is no JSON': { head: '{"alg":"RS256"' },
    'claims that are a list': { claims: [CLAIMS] },
    'claims that are null': { claims: null },
    'claims that are a text': { claims: '"ann"' },
    'claims that are no JSON': { claims: 'ann' },
    'no claims': { claims: '' },
    'white space': { change: (token) => token.replace('.', '. ') },
    'a line break': { change: (token) => `${token}\n` },
    'over 8 KiB': claimed({ x: 'x'.repeat(9000) }),
    'another token inside (nested)': { head: { ...HEAD, cty: 'JWT' }, claims: tokenOf({}) },
  },
  'the claims': {
    'of another issuer': claimed({ iss: 'https://evil.example.test' }),
    'of an issuer with a slash more': claimed({ iss: `${ISSUER}/` }),
    'of an issuer in capitals': claimed({ iss: ISSUER.toUpperCase() }),
    'of two issuers': claimed({ iss: [ISSUER, 'https://evil.example.test'] }),
    'of no issuer': claimed({ iss: undefined }),
    'of the gateway itself': claimed({ iss: 'kubedoh' }),
    'an issuer twice': raw(`"iss":"https://evil.example.test"`),
    'for others': claimed({ aud: 'vault' }),
    'for nobody': claimed({ aud: undefined }),
    'for an empty list': claimed({ aud: [] }),
    'for everybody': claimed({ aud: '*' }),
    'for a list in a list': claimed({ aud: [['kubedoh']] }),
    'for one whose name begins so': claimed({ aud: 'kubedoh.evil' }),
    'without an end': claimed({ exp: undefined }),
    'with an end that is a text': claimed({ exp: `${NOW + 600}` }),
    'with an end that is null': claimed({ exp: null }),
    'that ended': claimed({ exp: NOW - 61 }),
    'with an end before all time': claimed({ exp: -1 }),
    'that have not begun': claimed({ nbf: NOW + 61 }),
    'that begin at a text': claimed({ nbf: 'now' }),
    'issued at a text': claimed({ iat: 'now' }),
    'without the one that the rule wants': claimed({ sub: undefined }),
    'with a pattern in place of it': claimed({ sub: '*' }),
    'with a list of it in a list': claimed({ sub: [['ann']] }),
    'with it in another case': claimed({ sub: 'Ann' }),
    'with a look-alike of it': claimed({ sub: 'аnn' }),
    'with a null byte behind it': claimed({ sub: 'ann\u0000' }),
    'with it in a prototype': {
      claims: `{"iss":"${ISSUER}","aud":"kubedoh","exp":${NOW + 600},"__proto__":{"sub":"ann"}}`,
    },
  },
}

async function open(): Promise<Running> {
  const rules = [{ when: { sub: 'ann' }, namespaces: ['*'] }]
  const issuer = { issuer: ISSUER, audiences: ['kubedoh'], keys: `${ISSUER}/keys`, rules }
  const running = await Running.start({ ISSUERS: JSON.stringify([issuer]) })
  running.fetchPage = (url) => {
    assert.equal(url, `${ISSUER}/keys`, 'a token has the gateway ask elsewhere')
    return Promise.resolve(Response.json({ keys: KEYS }))
  }
  await running.publish()
  return running
}

/** Sends the token as a password: it may have characters that no Bearer token has. */
async function statusOf(running: Running, token: string): Promise<number> {
  const authorization = `Basic ${btoa(`x:${token}`)}`
  return (await running.send(`/dns-query${QUESTION}`, { authorization })).status
}

describe('a JWT', () => {
  test('counts when nothing is wrong with it', async () => {
    const running = await open()
    const good = [{}, { ...headed({ alg: 'ES256', kid: 'ec' }), signer: ec('ieee-p1363') }]
    for (const one of good) assert.equal(await statusOf(running, tokenOf(one)), 200)
  })

  const counts = Object.entries(ATTACKS).map(
    ([what, attacks]) => `${Object.keys(attacks).length} of ${what}`,
  )
  process.stdout.write(`attacks on JWTs: ${counts.join(', ')}\n`)
  for (const [what, attacks] of Object.entries(ATTACKS)) {
    for (const [name, attack] of Object.entries(attacks)) {
      test(`does not count for ${what}: ${name}`, async () => {
        assert.equal(await statusOf(await open(), tokenOf(attack)), 401)
      })
    }
  }
})
