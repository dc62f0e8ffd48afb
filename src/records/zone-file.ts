/**
 * Zone files (RFC 1035 §5, RFC 2308 §4) with `$ORIGIN`, `$TTL`, `$INCLUDE` and `$GENERATE`, read as
 * CoreDNS does.
 * @module
 */
import type { ResourceRecord } from '../dns/message.ts'
import { parseNameBelow } from '../dns/rdata-text.ts'
import { generateLine, parseRange } from './generate.ts'
import { readRecord, readTtl, wrong, type ZoneState } from './zone-record.ts'
import { type ZoneLine, ZoneScanner, type ZoneWord } from './zone-scanner.ts'

/** A zone file. */
export type ZoneFile = {
  /** Its path, for errors and for paths in it. */
  readonly file: string
  readonly text: string
  /** What relative names are below until the file says otherwise. */
  readonly origin: Uint8Array
  /** Reads a file that is included, by its path; `undefined` when it is not there. */
  readonly readText: (path: string) => string | undefined
}

/** Files within files, beside the first. */
const INCLUDE_DEPTH_MAX = 7
/** Files that one zone may include, each as often as it is. */
const INCLUDES_MAX = 1000
/** Characters of all these files. */
const CHARACTERS_MAX = 256 * 1024 * 1024
/** Records of a zone, generated ones included. */
const RECORDS_MAX = 4_000_000
/** Characters of all lines that `$GENERATE` makes: 10 times those of a reverse zone of a /16. */
const GENERATED_CHARACTERS_MAX = 32 * 1024 * 1024
/** TTL of generated records that name none, as in CoreDNS. */
const GENERATED_TTL_SECONDS = 3600

/**
 * Reads the records of a zone file in their order.
 * @throws {ZoneFileError} at the first thing that is wrong
 */
export function readZoneFile(zone: ZoneFile): Generator<ResourceRecord> {
  return new ZoneReader(zone.readText).records(zone, {
    file: zone.file,
    origin: zone.origin,
    owner: zone.origin,
    ttlSeconds: undefined,
    isTtlFixed: false,
  })
}

/** Reads a file and those that it includes, and counts what they take. */
class ZoneReader {
  private readonly readText: ZoneFile['readText']
  private depth = 0
  private includes = 0
  private characters = 0
  private generated = 0
  private recordCount = 0

  constructor(readText: ZoneFile['readText']) {
    this.readText = readText
  }

  *records(zone: { readonly text: string }, state: ZoneState): Generator<ResourceRecord> {
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

  /** Neither the origin nor the owner of the included file lasts beyond it (RFC 1035 §5.1). */
  private *include(line: ZoneLine, state: ZoneState): Generator<ResourceRecord> {
    const path = argument(line, state.file, 2)
    const [, , originWord] = line.words
    const origin = originWord === undefined ? state.origin : originOf(originWord, state)
    const file = besideFile(state.file, path.text)
    if (this.depth >= INCLUDE_DEPTH_MAX || this.includes >= INCLUDES_MAX) {
      const bounds = `${INCLUDE_DEPTH_MAX} deep and ${INCLUDES_MAX} in all`
      throw wrong(state.file, path, `too many files are included, at most ${bounds} may be`)
    }
    const text = this.readText(file)
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

/** The first argument of a directive with at most `max`. */
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

/** A relative path is that of a file beside the one that names it. */
function besideFile(file: string, path: string): string {
  return path.startsWith('/') ? path : file.slice(0, file.lastIndexOf('/') + 1) + path
}

/** The words of a line as text again. */
function templateOf(words: readonly ZoneWord[]): string {
  let text = ''
  for (const { text: word, isQuoted, isAttached } of words) {
    text += `${isAttached ? '' : ' '}${isQuoted ? `"${word}"` : word}`
  }
  return text.trimStart()
}
