/**
 * Server cookies that servers of different makers share (RFC 9018 §4).
 * @module
 */
import { byteAt, concatBytes } from '../../../dns/bytes/bytes.ts'
import { sipHash } from './siphash.ts'

/** Bytes of a client cookie (RFC 7873 §4). */
export const CLIENT_COOKIE_BYTES = 8
/** Smallest COOKIE option with a server cookie of any maker (RFC 7873 §4). */
export const BOTH_COOKIES_BYTES_MIN = 16
/** The largest one. */
export const BOTH_COOKIES_BYTES_MAX = 40
/** A client cookie; then version, reserved bytes, timestamp and hash. */
const OPTION_BYTES = 24
const VERSION = 1
const TIMESTAMP_AT = 12
const HASH_AT = 16
/** Bounds of a cookie's age, and the age from which it is renewed (RFC 9018 §4.3). */
const AGE_SECONDS_MAX = 3600
const AHEAD_SECONDS_MAX = 300
const RENEW_SECONDS = 1800
const DAY_SECONDS = 86_400

/** The client and the time that a cookie is for. */
export type CookieScope = {
  /** 4 or 16 bytes. */
  readonly address: Uint8Array
  /** Seconds since 1970. */
  readonly nowSeconds: number
}

/** The verdict on a client's COOKIE option. */
export type CookieVerdict = {
  /** Whether the server cookie proves the client's address. */
  readonly isValid: boolean
  /** The data of the response's COOKIE option. */
  readonly data: Uint8Array
}

/**
 * Checks a client's COOKIE option and returns that of the response: the same one while it is good,
 * else one with a new server cookie, which the first secret signs.
 * @param secrets of 16 bytes each, at least one; all are accepted
 * @param option of a valid size
 */
export function checkCookie(
  secrets: readonly Uint8Array[],
  option: Uint8Array,
  scope: CookieScope,
): CookieVerdict {
  const age = ageSeconds(option, scope.nowSeconds)
  const isTimely = age <= AGE_SECONDS_MAX && age >= -AHEAD_SECONDS_MAX
  const isOurs = option.length === OPTION_BYTES && option[CLIENT_COOKIE_BYTES] === VERSION
  const signer =
    isTimely && isOurs ? secrets.findIndex((secret) => isSigned(option, scope.address, secret)) : -1
  const isValid = signer >= 0
  if (signer === 0 && age <= RENEW_SECONDS) return { isValid, data: option }
  return { isValid, data: newCookie(secrets[0] ?? new Uint8Array(16), option, scope) }
}

/** Returns the data of a COOKIE option with a new server cookie for a client cookie. */
function newCookie(
  secret: Uint8Array,
  option: Uint8Array,
  { address, nowSeconds }: CookieScope,
): Uint8Array {
  const data = new Uint8Array(OPTION_BYTES)
  data.set(option.subarray(0, CLIENT_COOKIE_BYTES))
  data[CLIENT_COOKIE_BYTES] = VERSION
  new DataView(data.buffer).setUint32(TIMESTAMP_AT, nowSeconds)
  data.set(hashOf(data, address, secret), HASH_AT)
  return data
}

/** Returns a cookie's age by serial number arithmetic (RFC 1982), negative ahead of the clock. */
function ageSeconds(option: Uint8Array, nowSeconds: number): number {
  if (option.length < HASH_AT) return 0
  const view = new DataView(option.buffer, option.byteOffset)
  return (nowSeconds - view.getUint32(TIMESTAMP_AT)) | 0
}

/** Compares in constant time. */
function isSigned(option: Uint8Array, address: Uint8Array, secret: Uint8Array): boolean {
  const hash = hashOf(option, address, secret)
  let differing = 0
  for (let i = 0; i < hash.length; i++) differing |= byteAt(hash, i) ^ byteAt(option, HASH_AT + i)
  return differing === 0
}

/** Hashes a cookie up to its hash, then the client's address (RFC 9018 §4.4). */
function hashOf(option: Uint8Array, address: Uint8Array, secret: Uint8Array): Uint8Array {
  const message = new Uint8Array(HASH_AT + address.length)
  message.set(option.subarray(0, HASH_AT))
  message.set(address, HASH_AT)
  return sipHash(secret, message)
}

/**
 * Derives a secret for each day from one that does not change: no secret signs for more than 26
 * hours (RFC 7873 §7.1), and threads with the same clock agree without a message.
 */
export class DailySecrets {
  private readonly secret: Uint8Array
  private day = Number.NaN
  private secrets: readonly Uint8Array[] = []

  /** @param secret of 16 bytes */
  constructor(secret: Uint8Array) {
    this.secret = secret
  }

  /** Returns the secrets of the day and of the previous day. */
  at(nowSeconds: number): readonly Uint8Array[] {
    const day = Math.floor(nowSeconds / DAY_SECONDS)
    if (day !== this.day) {
      this.secrets = [day, day - 1].map((one) => secretOf(this.secret, one))
      this.day = day
    }
    return this.secrets
  }
}

function secretOf(secret: Uint8Array, day: number): Uint8Array {
  const halves = [0, 1].map((half) => {
    const message = new Uint8Array(5)
    new DataView(message.buffer).setUint32(0, day)
    message[4] = half
    return sipHash(secret, message)
  })
  return concatBytes(...halves)
}
