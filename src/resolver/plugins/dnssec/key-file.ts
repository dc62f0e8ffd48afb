/**
 * Reads zone keys from the files of BIND's `dnssec-keygen`: a DNSKEY record in `.key`, and the
 * private key in `.private`, as lines of a name and a value in base64.
 * @module
 */
import { decodeBase64, encodeBase64url } from '../../../dns/bytes/base64url.ts'
import { byteAt, readUint16 } from '../../../dns/bytes/bytes.ts'
import { errorText } from '../../../dns/bytes/unknown.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { ALGORITHM } from '../../../dns/rdata/dnssec-algorithm.ts'
import type { ResourceRecord } from '../../../dns/wire/message.ts'
import { keyTag } from '../../../dns/wire/signed-data.ts'
import { parseFirstRecord } from '../../../snapshot/records/zone-text.ts'
import type { Host } from '../../contract/host.ts'

/** A key that signs. */
export type DnssecKey = {
  readonly record: ResourceRecord
  readonly algorithm: number
  readonly tag: number
  /** What it signs: keys (KSK) or all else (ZSK); `undefined` if the record is not a zone key. */
  readonly use: 'keys' | 'zone' | undefined
  readonly sign: (data: Uint8Array) => Uint8Array
}

/** The reason why a key is unusable. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError'
}

/** Flags of a DNSKEY record (RFC 4034 §2.1.1). */
const ZONE_FLAG = 0x0100
const SEP_FLAG = 0x0001
const FORMATS: ReadonlySet<string> = new Set(['v1.2', 'v1.3'])

/** Curves by algorithm: their names in JSON Web Keys, and bytes of a coordinate. */
const CURVES: ReadonlyMap<number, { readonly crv: string; readonly bytes: number }> = new Map([
  [ALGORITHM.ECDSAP256SHA256, { crv: 'P-256', bytes: 32 }],
  [ALGORITHM.ECDSAP384SHA384, { crv: 'P-384', bytes: 48 }],
])
const RSA: ReadonlySet<number> = new Set([
  ALGORITHM.RSASHA1,
  ALGORITHM['RSASHA1-NSEC3-SHA1'],
  ALGORITHM.RSASHA256,
  ALGORITHM.RSASHA512,
])
/** Parts of a private RSA key, by their names in JSON Web Keys (RFC 7518 §6.3.2). */
const RSA_PARTS: readonly (readonly [string, string])[] = [
  ['d', 'privateexponent'],
  ['p', 'prime1'],
  ['q', 'prime2'],
  ['dp', 'exponent1'],
  ['dq', 'exponent2'],
  ['qi', 'coefficient'],
]

/**
 * Reads the key in the files `base`.key and `base`.private.
 * @throws {KeyFileError} for an unusable key
 */
export function readKey(
  base: string,
  host: Pick<DnssecHost, 'readText' | 'openSigner'>,
): DnssecKey {
  const [publicFile, privateFile] = [`${base}.key`, `${base}.private`]
  const record = publicHalf(publicFile, textOf(publicFile, host))
  const { rdata } = record
  const algorithm = byteAt(rdata, 3)
  const values = privateValues(privateFile, textOf(privateFile, host))
  if (values.get('algorithm')?.split(' ')[0] !== String(algorithm)) {
    throw new KeyFileError(`"${privateFile}" is for another algorithm than "${publicFile}"`)
  }
  const key = privateKey(algorithm, rdata.subarray(4), values)
  if (key === undefined) {
    const known = 'RSA, ECDSAP256SHA256, ECDSAP384SHA384 and ED25519 are'
    throw new KeyFileError(`"${privateFile}" is not a key for algorithm ${algorithm}; ${known}`)
  }
  const flags = readUint16(rdata, 0)
  const use = (flags & ZONE_FLAG) === 0 ? undefined : (flags & SEP_FLAG) === 0 ? 'zone' : 'keys'
  return { record, algorithm, tag: keyTag(rdata), use, sign: open(base, { algorithm, key }, host) }
}

function textOf(file: string, { readText }: Pick<DnssecHost, 'readText'>): string {
  const text = readText(file)
  if (text === undefined) throw new KeyFileError(`cannot read "${file}"`)
  return text
}

function publicHalf(file: string, text: string): ResourceRecord {
  const first = parseFirstRecord(text)
  if (first?.type === TYPE.DNSKEY) return first
  throw new KeyFileError(`"${file}" does not begin with a DNSKEY record`)
}

/** Returns the values by name in lower case; a semicolon starts a comment. */
function privateValues(file: string, text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, name, value] = /^([^:;]+):([^;]*)/.exec(line) ?? []
    if (name !== undefined) values.set(name.trim().toLowerCase(), value?.trim() ?? '')
  }
  if (FORMATS.has(values.get('private-key-format') ?? '')) return values
  throw new KeyFileError(`"${file}" lacks "Private-key-format: v1.3"`)
}

function privateKey(
  algorithm: number,
  known: Uint8Array,
  values: ReadonlyMap<string, string>,
): SigningKeys | undefined {
  const curve = CURVES.get(algorithm)
  if (curve !== undefined) {
    const { crv, bytes } = curve
    const d = numberOf(values.get('privatekey'), bytes)
    if (d === undefined || known.length !== 2 * bytes) return undefined
    const [x, y] = [known.subarray(0, bytes), known.subarray(bytes)].map(encodeBase64url)
    return { kty: 'EC', crv, x: x ?? '', y: y ?? '', d }
  }
  if (algorithm === ALGORITHM.ED25519) {
    const d = numberOf(values.get('privatekey'), 32)
    return d === undefined
      ? undefined
      : { kty: 'OKP', crv: 'Ed25519', x: encodeBase64url(known), d }
  }
  return RSA.has(algorithm) ? rsaKey(known, values) : undefined
}

/** Reads the exponent after its size, one byte or a 0 and two bytes (RFC 3110 §2). */
function rsaKey(known: Uint8Array, values: ReadonlyMap<string, string>): SigningKeys | undefined {
  const isLong = known[0] === 0
  const start = isLong ? 3 : 1
  if (known.length < start) return undefined
  const end = start + (isLong ? readUint16(known, 1) : byteAt(known, 0))
  const n = encodeBase64url(known.subarray(end))
  const e = encodeBase64url(known.subarray(start, end))
  const key: Record<string, string> = { kty: 'RSA', n, e }
  for (const [part, name] of RSA_PARTS) {
    const bytes = decodeBase64(values.get(name) ?? '')
    if (bytes === undefined || bytes.length === 0) return undefined
    key[part] = encodeBase64url(bytes)
  }
  return key
}

/** Restores leading zeros, which some tools omit. */
function numberOf(text: string | undefined, size: number): string | undefined {
  const bytes = text === undefined ? undefined : decodeBase64(text)
  if (bytes === undefined || bytes.length === 0 || bytes.length > size) return undefined
  const whole = new Uint8Array(size)
  whole.set(bytes, size - bytes.length)
  return encodeBase64url(whole)
}

function open(
  base: string,
  { algorithm, key }: { readonly algorithm: number; readonly key: SigningKeys },
  { openSigner }: Pick<DnssecHost, 'openSigner'>,
): DnssecKey['sign'] {
  try {
    return openSigner(algorithm, key)
  } catch (error) {
    const reason = errorText(error)
    throw new KeyFileError(`"${base}.private" does not match "${base}.key": ${reason}`)
  }
}

/** A private key as a JSON Web Key (RFC 7517), with its public half. */
export type SigningKeys = Readonly<Record<string, string>>

/** A host that signs. */
export type DnssecHost = Host & {
  /**
   * Returns a function that signs with a private key, by a DNSSEC algorithm.
   * @throws {Error} when the key is not valid
   */
  readonly openSigner: (algorithm: number, key: SigningKeys) => (data: Uint8Array) => Uint8Array
}
