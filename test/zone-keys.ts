/**
 * Keys of zones for tests: the examples of RFC 6605 and RFC 8080, and new ones, in the files that
 * BIND writes; and whether signatures are good, by Node's cryptography.
 * @module
 */
import { createPublicKey, generateKeyPairSync, verify, type webcrypto } from 'node:crypto'
import { decodeBase64url, encodeBase64, encodeBase64url } from '../src/dns/bytes/base64url.ts'
import { byteAt, concatBytes, readUint16, readUint32 } from '../src/dns/bytes/bytes.ts'
import { equalNames, formatName } from '../src/dns/names/name.ts'
import { formatType, TYPE } from '../src/dns/names/rr-type.ts'
import { ALGORITHM } from '../src/dns/rdata/dnssec-algorithm.ts'
import { parseResponse, type ResourceRecord } from '../src/dns/wire/message.ts'
import { nameEnd } from '../src/dns/wire/rdata-wire.ts'
import { canonicalRecords, keyTag } from '../src/dns/wire/signed-data.ts'

type JsonWebKey = webcrypto.JsonWebKey
type Files = Readonly<Record<string, string>>

const FORMAT = 'Private-key-format: v1.3'

/** The examples of RFC 6605 §6 and RFC 8080 §6.1, for example.net and example.com. */
export const EXAMPLE_KEYS: Files = {
  'p256.key':
    '; a comment\nexample.net. IN DNSKEY 257 3 13 ( GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edb\n' +
    '  krSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA== )\n',
  'p256.private':
    'Private-key-format: v1.2\nAlgorithm: 13 (ECDSAP256SHA256)\n' +
    'PrivateKey: GU6SnQ/Ou+xC5RumuIUIuJZteXT2z0O/ok1s38Et6mQ=\nCreated: 20100812100439\n',
  'p384.key':
    'example.net. 3600 IN DNSKEY 257 3 14 xKYaNhWdGOfJ+nPrL8/arkwf2EY3MDJ+SErKivBVSum1' +
    'w/egsXvSADtNJhyem5RCOpgQ6K8X1DRSEkrbYQ+OB+v8/uX45NBwY8rp65F6Glur8I/mlVNgF6W/qTI37m40\n',
  'p384.private':
    'Private-key-format: v1.2\nAlgorithm: 14 (ECDSAP384SHA384)\n' +
    'PrivateKey: WURgWHCcYIYUPWgeLmiPY2DJJk02vgrmTfitxgqcL4vwW7BOrbawVmVe0d9V94SR\n',
  'ed25519.key':
    'example.com. 60 IN DNSKEY 257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=\n',
  'ed25519.private':
    'Private-key-format: v1.2\nAlgorithm: 15 (ED25519)\n' +
    'PrivateKey: ODIyNjAzODQ2MjgwODAxMjI2NDUxOTAyMDQxNDIyNjI=\n',
}

/** Makes the files of a new key, whose names begin with `base`. */
export function newKeyFiles(
  base: string,
  zone: string,
  { algorithm = 13, flags = 257 }: { readonly algorithm?: number; readonly flags?: number } = {},
): Files {
  const jwk = newKey(algorithm)
  const publicHalf = encodeBase64(publicBytes(jwk))
  const lines = [FORMAT, `Algorithm: ${algorithm} (X)`, ...privateLines(jwk), 'Activate: 20260101']
  return {
    [`${base}.key`]: `${zone} IN DNSKEY ${flags} 3 ${algorithm} ${publicHalf}\n`,
    [`${base}.private`]: `${lines.join('\n')}\n`,
  }
}

/**
 * Says of each signature in a reply `SECTION OWNER TYPE ALGORITHM LABELS TTL SIGNER`, with ` bad`
 * behind it when no key made it of the records of its section.
 * @param keys DNSKEY records
 */
export function checkSignatures(reply: Uint8Array, keys: readonly ResourceRecord[]): string[] {
  const response = parseResponse(reply)
  if (response === undefined) throw new TypeError('Not a response')
  const { answer, authority, additional } = response
  return Object.entries({ answer, authority, additional }).flatMap(([section, records]) =>
    records.flatMap((record) => {
      if (record.type !== TYPE.RRSIG) return []
      const { rdata, owner, ttlSeconds } = record
      const signer = formatName(rdata, 18)
      const what = [formatType(readUint16(rdata, 0)), byteAt(rdata, 2), byteAt(rdata, 3)]
      const isGood = isSigned(record, records, keys)
      const words = [section, formatName(owner), ...what, ttlSeconds, signer]
      return [words.join(' ') + (isGood ? '' : ' bad')]
    }),
  )
}

/** Whether an RRSIG record is the signature of its records among some, by one of some keys. */
export function isSigned(
  { owner, rdata }: ResourceRecord,
  records: readonly ResourceRecord[],
  keys: readonly ResourceRecord[],
): boolean {
  const type = readUint16(rdata, 0)
  const [first, ...others] = records.filter(
    (record) => record.type === type && equalNames(record.owner, owner),
  )
  const end = nameEnd(rdata, 18)
  const key = keys.find((one) => keyTag(one.rdata) === readUint16(rdata, 16))
  if (first === undefined || key === undefined || byteAt(key.rdata, 3) !== byteAt(rdata, 2)) {
    return false
  }
  const data = concatBytes(
    rdata.subarray(0, end),
    canonicalRecords([first, ...others], readUint32(rdata, 4)),
  )
  const shown = createPublicKey({ key: shownKey(key.rdata), format: 'jwk' })
  const digest = { 8: 'sha256', 10: 'sha512', 13: 'sha256', 14: 'sha384' }[byteAt(rdata, 2)]
  const by = { key: shown, dsaEncoding: 'ieee-p1363' } as const
  return verify(digest, data, by, rdata.subarray(end))
}

function newKey(algorithm: number): JsonWebKey {
  const format = { format: 'jwk' } as const
  switch (algorithm) {
    case ALGORITHM.ECDSAP256SHA256:
      return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(format)
    case ALGORITHM.ECDSAP384SHA384:
      return generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export(format)
    case ALGORITHM.ED25519:
      return generateKeyPairSync('ed25519').privateKey.export(format)
    default:
      return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(format)
  }
}

function publicBytes({ kty, x, y, n, e }: JsonWebKey): Uint8Array {
  if (kty !== 'RSA') return concatBytes(bytesOf(x), bytesOf(y ?? ''))
  const exponent = bytesOf(e)
  return concatBytes(Uint8Array.of(exponent.length), exponent, bytesOf(n))
}

function privateLines({ kty, d, n, e, p, q, dp, dq, qi }: JsonWebKey): string[] {
  const parts = {
    Modulus: n,
    PublicExponent: e,
    PrivateExponent: d,
    Prime1: p,
    Prime2: q,
    Exponent1: dp,
    Exponent2: dq,
    Coefficient: qi,
  }
  const lines = kty === 'RSA' ? parts : { PrivateKey: d }
  return Object.entries(lines).map(([name, value]) => `${name}: ${encodeBase64(bytesOf(value))}`)
}

function shownKey(rdata: Uint8Array): JsonWebKey {
  const key = rdata.subarray(4)
  const half = key.length / 2
  switch (byteAt(rdata, 3)) {
    case ALGORITHM.ECDSAP256SHA256:
    case ALGORITHM.ECDSAP384SHA384: {
      const [x, y] = [encodeBase64url(key.subarray(0, half)), encodeBase64url(key.subarray(half))]
      return { kty: 'EC', crv: half === 32 ? 'P-256' : 'P-384', x, y }
    }
    case ALGORITHM.ED25519:
      return { kty: 'OKP', crv: 'Ed25519', x: encodeBase64url(key) }
    default: {
      const end = 1 + byteAt(key, 0)
      const [e, n] = [encodeBase64url(key.subarray(1, end)), encodeBase64url(key.subarray(end))]
      return { kty: 'RSA', e, n }
    }
  }
}

function bytesOf(text: string | undefined): Uint8Array {
  const bytes = text === undefined ? undefined : decodeBase64url(text)
  if (bytes === undefined) throw new TypeError(`Not base64url: ${text}`)
  return bytes
}
