/**
 * Parses zone files (RFC 1035 §5, RFC 2308 §4) with `$ORIGIN`, `$TTL`, `$INCLUDE` and `$GENERATE`,
 * as CoreDNS does.
 * @module
 */
import type { ResourceRecord } from '../../dns/wire/message.ts'
import { parseNameBelow } from '../../dns/wire/rdata-text.ts'
import { readRecord, readTtl, wrong, type ZoneState } from './zone-record.ts'
import { type ZoneLine, ZoneScanner, type ZoneWord } from './zone-scanner.ts'

type ZoneFile = {
  /** Its path, for messages and for relative paths in it. */
  readonly file: string
  readonly text: string
  /** Initial origin of relative names. */
  readonly origin: Uint8Array
}

/** Most levels of included files. */
const INCLUDE_DEPTH_MAX = 7
/** Most files that one zone includes, repetitions counted. */
const INCLUDES_MAX = 1000
/** Most characters of all these files. */
const CHARACTERS_MAX = 256 * 1024 * 1024
/** Most records of a zone, generated ones included. */
const RECORDS_MAX = 4_000_000
/** Most characters of all generated lines: 10 times those of a reverse zone of a /16. */
const GENERATED_CHARACTERS_MAX = 32 * 1024 * 1024
/** TTL of generated records without one, as in CoreDNS. */
const GENERATED_TTL_SECONDS = 3600

/** A file that a zone file includes. */
type Inclusion = { readonly include: string }

/**
 * Yields the records of a zone file in their order, and the paths of files that it includes: the
 * next call of `next` takes the text of such a file, `undefined` if it cannot be read.
 * @throws {ZoneFileError} at the first error
 */
export function zoneFileSteps(zone: ZoneFile): ZoneSteps {
  return new ZoneReader().records(zone, {
    file: zone.file,
    origin: zone.origin,
    owner: zone.origin,
    ttlSeconds: undefined,
    isTtlFixed: false,
  })
}

type ZoneSteps = Generator<ResourceRecord | Inclusion, void, string | undefined>

/**
 * Yields the records of a zone file that includes no others.
 * @throws {ZoneFileError} at the first error
 */
export function* readZoneFile(zone: ZoneFile): Generator<ResourceRecord> {
  for (const step of zoneFileSteps(zone)) if (!('include' in step)) yield step
}

/** Reads a file and the files that it includes, within the bounds above. */
class ZoneReader {
  private depth = 0
  private includes = 0
  private characters = 0
  private generated = 0
  private recordCount = 0;

  *records(zone: { readonly text: string }, state: ZoneState): ZoneSteps {
    const scanner = new ZoneScanner(state.file, zone.text)
    for (let line = scanner.next(); line !== undefined; line = scanner.next()) {
      const [first] = line.words
      switch (line.hasOwner && !first.isQuoted ? first.text.toUpperCase() : '') {
        case '$TTL':
          state.ttlSeconds = readTtl(argument(line, state.file, 1), state.file)
          state.isTtlFixed = true
          break
        case '$ORIGIN':
          state.origin = originOf(argument(line, state.file, 1), state)
          break
        case '$INCLUDE':
          yield* this.include(line, state)
          break
        case '$GENERATE':
          yield* this.generate(line, state)
          break
        default:
          yield this.count(readRecord(line, state), first, state.file)
      }
    }
  }

  /** Restores origin and owner after an included file (RFC 1035 §5.1). */
  private *include(line: ZoneLine, state: ZoneState): ZoneSteps {
    const path = argument(line, state.file, 2)
    const [, , originWord] = line.words
    const origin = originWord === undefined ? state.origin : originOf(originWord, state)
    const file = besideFile(state.file, path.text)
    if (this.depth >= INCLUDE_DEPTH_MAX || this.includes >= INCLUDES_MAX) {
      const bounds = `${INCLUDE_DEPTH_MAX} deep and ${INCLUDES_MAX} in all`
      throw wrong(state.file, path, `too many files are included, at most ${bounds} may be`)
    }
    const text = yield { include: file }
    if (text === undefined) throw wrong(state.file, path, `cannot read "${file}"`)
    this.includes++
    this.characters += text.length
    if (this.characters > CHARACTERS_MAX) {
      throw wrong(state.file, path, `included files are over ${CHARACTERS_MAX} characters in all`)
    }
    this.depth++
    yield* this.records({ text }, { ...state, file, origin, owner: origin })
    this.depth--
  }

  private *generate(line: ZoneLine, state: ZoneState): Generator<ResourceRecord> {
    const rangeWord = argument(line, state.file, Number.POSITIVE_INFINITY)
    const range = parseRange(rangeWord.text)
    if (range === undefined) {
      throw wrong(
        state.file,
        rangeWord,
        `"${rangeWord.text}" is not a range such as 1-10 or 0-64/2`,
      )
    }
    const template = templateOf(line.words.slice(2))
    const { file, origin } = state
    const own = {
      file,
      origin,
      owner: origin,
      ttlSeconds: GENERATED_TTL_SECONDS,
      isTtlFixed: false,
    }
    for (let number = range.first; number <= range.last; number += range.step) {
      const text = generateLine(template, number)
      this.generated += text?.length ?? 0
      if (this.generated > GENERATED_CHARACTERS_MAX) {
        const message = `$GENERATE makes over ${GENERATED_CHARACTERS_MAX} characters in all`
        throw wrong(file, rangeWord, message)
      }
      const made = text === undefined ? undefined : new ZoneScanner(file, text).next()
      if (made === undefined) {
        throw wrong(file, rangeWord, `$GENERATE makes no record of "${template}" and ${number}`)
      }
      const words = made.words.map((word) => ({ ...word, line: rangeWord.line, column: 1 }))
      const [first = rangeWord, ...rest] = words
      const record = readRecord({ hasOwner: true, words: [first, ...rest] }, own)
      yield this.count(record, rangeWord, file)
    }
  }

  private count(record: ResourceRecord, word: ZoneWord, file: string): ResourceRecord {
    if (++this.recordCount > RECORDS_MAX) {
      throw wrong(file, word, `a zone has at most ${RECORDS_MAX} records`)
    }
    return record
  }
}

/** Returns the first argument of a directive with at most `max`. */
function argument({ words }: ZoneLine, file: string, max: number): ZoneWord {
  const [directive, word] = words
  if (word === undefined) throw wrong(file, directive, `"${directive.text}" needs an argument`)
  const surplus = words[max + 1]
  if (surplus === undefined) return word
  throw wrong(file, surplus, `"${directive.text}" takes no "${surplus.text}"`)
}

function originOf(word: ZoneWord, { file, origin }: ZoneState): Uint8Array {
  const name = parseNameBelow(word.text, origin)
  if (name === undefined) throw wrong(file, word, `"${word.text}" is not a domain name`)
  return name
}

/** Resolves a path relative to the including file. */
function besideFile(file: string, path: string): string {
  return path.startsWith('/') ? path : file.slice(0, file.lastIndexOf('/') + 1) + path
}

function templateOf(words: readonly ZoneWord[]): string {
  let text = ''
  for (const { text: word, isQuoted, isAttached } of words) {
    text += `${isAttached ? '' : ' '}${isQuoted ? `"${word}"` : word}`
  }
  return text.trimStart()
}

type NumberRange = { readonly first: number; readonly last: number; readonly step: number }

/** Most lines of one directive. */
const LINES_MAX = 65_536
const NUMBER_MAX = 0x7fffffff
const WIDTH_MAX = 255

/** Parses `1-10` or `1-10/2`; `undefined` if it is invalid or has over 65,536 numbers. */
export function parseRange(text: string): NumberRange | undefined {
  const [, ...digits] = /^(\d{1,10})-(\d{1,10})(?:\/(\d{1,10}))?$/.exec(text) ?? []
  if (digits.length === 0) return undefined
  const [first = 0, last = 0, step = 1] = digits.map((some) => Number(some ?? 1))
  if (last < first || last > NUMBER_MAX || step < 1) return undefined
  return (last - first) / step < LINES_MAX ? { first, last, step } : undefined
}

/**
 * Returns the line for a number: `$` stands for the number, `${OFFSET,WIDTH,BASE}` for the number
 * plus an offset, padded with zeros, in a base (d, o, x or X); `$$` and `\$` for a dollar.
 * `undefined` if a part in braces is invalid, or gives a number below 0 or over 31 bits.
 */
export function generateLine(template: string, number: number): string | undefined {
  let isSound = true
  const line = template.replace(/\\\$|\$\$|\$(?:\{([^}]*)\}?)?/g, (whole, modifier?: string) => {
    if (whole === '\\$' || whole === '$$') return '$'
    const text =
      whole.startsWith('${') && !whole.endsWith('}') ? undefined : spell(number, modifier)
    if (text === undefined) isSound = false
    return text ?? ''
  })
  return isSound ? line : undefined
}

function spell(number: number, modifier = '0'): string | undefined {
  const match = /^([-+]?\d{1,10})(?:,(\d{1,3})(?:,([doxX]))?)?$/.exec(modifier)
  if (match === null) return undefined
  const [, offset = '0', width = '0', base = 'd'] = match
  const value = number + Number(offset)
  if (value < 0 || value > NUMBER_MAX || Number(width) > WIDTH_MAX) return undefined
  const radix = base === 'd' ? 10 : base === 'o' ? 8 : 16
  const digits = value.toString(radix).padStart(Number(width), '0')
  return base === 'X' ? digits.toUpperCase() : digits
}
