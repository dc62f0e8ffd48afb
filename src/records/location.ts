/**
 * Parses the text of LOC rdata: where a host or network is on earth (RFC 1876 §3).
 * @module
 */
import { concatBytes, uint32Bytes } from '../bytes/bytes.ts'

const DEGREE_MS = 3_600_000
/** 0° of both angles, in thousandths of a second. */
const ZERO_MS = 2 ** 31
/** Altitude 0 in centimetres: the unit counts from 100 km below. */
const ZERO_CM = 10_000_000
const PRECISION_CM_MAX = 9_000_000_000
/** Size, horizontal and vertical precision when left out. */
const DEFAULTS = ['1', '10000', '10'] as const
const ANGLE = String.raw`(\d+)(?: (\d+)(?: (\d+(?:\.\d+)?))?)?`
/** Each text fits in one way only: a long word of digits must not be tried in all of them. */
const NUMBER = String.raw`(?:\d+(?:\.\d+)?|\.\d+)`
const METERS = `(?: (${NUMBER})m?)?`
const TEXT = new RegExp(
  `^${ANGLE} ([NS]) ${ANGLE} ([EW]) (-?${NUMBER})m?${METERS}${METERS}${METERS}$`,
  'i',
)

/** Parses the words of a location; `undefined` if they are invalid. */
export function parseLocation(words: readonly string[]): Uint8Array | undefined {
  const found = TEXT.exec(words.join(' '))
  if (found === null) return undefined
  const [latitude, longitude] = [found.slice(1, 5), found.slice(5, 9)].map(parseAngle)
  const altitude = Math.round(100 * Number(found[9])) + ZERO_CM
  const precisions = DEFAULTS.map((meters, i) => parsePrecision(found[10 + i] ?? meters))
  const [size, horizontal, vertical] = precisions
  if (latitude === undefined || longitude === undefined) return undefined
  if (size === undefined || horizontal === undefined || vertical === undefined) return undefined
  if (altitude < 0 || altitude >= 2 ** 32) return undefined
  const head = Uint8Array.of(0, size, horizontal, vertical)
  return concatBytes(head, uint32Bytes(latitude, longitude, altitude))
}

function parseAngle(words: readonly (string | undefined)[]): number | undefined {
  const [degrees, minutes = '0', seconds = '0', side = ''] = words
  const isValid = Number(minutes) < 60 && Number(seconds) < 60
  const wholeMs = Number(degrees) * DEGREE_MS + Number(minutes) * 60_000
  const ms = wholeMs + Math.round(1000 * Number(seconds))
  if (!isValid || ms > (/[NS]/i.test(side) ? 90 : 180) * DEGREE_MS) return undefined
  return /[NE]/i.test(side) ? ZERO_MS + ms : ZERO_MS - ms
}

/** Parses meters into a digit and the power of ten that it is times, in centimetres. */
function parsePrecision(meters: string): number | undefined {
  let cm = Math.round(100 * Number(meters))
  if (cm > PRECISION_CM_MAX) return undefined
  let power = 0
  for (; cm >= 10; power++) cm = Math.floor(cm / 10)
  return (cm << 4) | power
}
