/**
 * Parses the text of LOC rdata: where a host or network is on earth (RFC 1876 §3).
 * @module
 */
import { concatBytes, uint32Bytes } from '../../dns/bytes/bytes.ts'
import type { RdataMistake } from '../../dns/wire/rdata-mistake.ts'

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

const ANGLES = [
  { name: 'latitude', side: /^[NS]$/i, wanted: 'degrees to 90, minutes, seconds, and N or S' },
  { name: 'longitude', side: /^[EW]$/i, wanted: 'degrees to 180, minutes, seconds, and E or W' },
] as const
/** The fields after both angles, in meters. */
const DISTANCES = ['altitude', 'size', 'horizontal precision', 'vertical precision']
const METERS_WORD = new RegExp(`^-?${NUMBER}m?$`, 'i')
/** Characters of a wrong word that a message quotes. */
const QUOTED_MAX = 60

/** Returns the first mistake in words that are not a location. */
export function findLocationMistake(words: readonly string[]): RdataMistake {
  let next = 0
  for (const { name, side, wanted } of ANGLES) {
    const start = next
    while (next < start + 3 && /^\d/.test(words[next] ?? '')) next++
    if (!side.test(words[next] ?? '')) return mistakeAt(words, next, name, wanted)
    const isRight = isAngle(words.slice(start, ++next))
    if (!isRight) return mistakeAt(words, start, name, wanted)
  }
  for (const [i, name] of DISTANCES.entries()) {
    const word = words[next]
    if (word === undefined && i > 0) break
    const isRight = METERS_WORD.test(word ?? '') && isDistance(i, Number.parseFloat(word ?? ''))
    if (!isRight) return mistakeAt(words, next, name, 'meters')
    next++
  }
  const found = (words[next] ?? '').slice(0, QUOTED_MAX)
  return { index: next, message: `a LOC record has "${found}" after its last field` }
}

function isAngle(words: readonly string[]): boolean {
  const found = new RegExp(`^${ANGLE} ([NSEW])$`, 'i').exec(words.join(' '))
  return found !== null && parseAngle(found.slice(1, 5)) !== undefined
}

function isDistance(index: number, meters: number): boolean {
  if (index > 0) return meters >= 0 && parsePrecision(String(meters)) !== undefined
  const altitude = Math.round(100 * meters) + ZERO_CM
  return altitude >= 0 && altitude < 2 ** 32
}

function mistakeAt(
  words: readonly string[],
  index: number,
  name: string,
  wanted: string,
): RdataMistake {
  const word = words[index]
  if (word === undefined) {
    return { index, message: `a LOC record lacks its ${name}, ${wanted}` }
  }
  const found = word.slice(0, QUOTED_MAX)
  return { index, message: `the ${name} of a LOC record is "${found}", expected ${wanted}` }
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
