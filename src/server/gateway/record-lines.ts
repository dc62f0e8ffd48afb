/**
 * Records as lines of text, each with a checksum, so that a flipped bit changes no record. A broken
 * line is no record and takes no other one away.
 * @module
 */
import { createHash } from 'node:crypto'
import { createSharedPause } from '../../dns/bytes/steps.ts'
import { NODE_TURNS } from '../node/node-turns.ts'

/** Digits of the SHA-256 at the end of a line. */
const SUM_DIGITS = 16
const LINE = /^(.*),"sum":"([0-9a-f]{16})"\}$/s

/** A record with an identifier. */
export type Named = { readonly id: string }

/** A record, and how it is written. */
export type LineFormat<T extends Named> = {
  /** Formats a record as a JSON object. */
  readonly format: (record: T) => string
  /** Parses what `format` returned; `undefined` for anything else. */
  readonly parse: (text: string) => T | undefined
}

/** The record of each line with a checksum, which the next version need not parse or format. */
export type KnownLines<T> = ReadonlyMap<string, T>

/** What a text has. */
export type ParsedLines<T> = {
  readonly records: ReadonlyMap<string, T>
  readonly lines: KnownLines<T>
  /** Lines without a valid record. */
  readonly broken: readonly string[]
}

/**
 * Parses a text, in slices: clients wait for no more than a few of 10,000 lines.
 * @param known lines of the version before
 * @param onBroken gets the number of each broken line, from 1
 */
export async function parseLines<T extends Named>(
  form: LineFormat<T>,
  bytes: Uint8Array,
  known: KnownLines<T>,
  onBroken: (line: number) => void,
): Promise<ParsedLines<T>> {
  const records = new Map<string, T>()
  const lines = new Map<string, T>()
  const broken: string[] = []
  const pause = createSharedPause(NODE_TURNS)
  for (const [index, line] of new TextDecoder().decode(bytes).split('\n').entries()) {
    const paused = pause()
    if (paused !== undefined) await paused
    const record = line === '' ? undefined : (known.get(line) ?? parseLine(form, line))
    if (record !== undefined) {
      records.set(record.id, record)
      if (LINE.test(line)) lines.set(line, record)
    } else if (line !== '') {
      broken.push(line)
      onBroken(index + 1)
    }
  }
  return { records, lines, broken }
}

/** Formats records, in slices; reuses the lines of the version before. */
export async function formatLines<T extends Named>(
  form: LineFormat<T>,
  records: ReadonlyMap<string, T>,
  known: KnownLines<T>,
): Promise<{ readonly bytes: Uint8Array; readonly lines: KnownLines<T> }> {
  const before = new Map([...known].map(([line, record]) => [record, line]))
  const lines = new Map<string, T>()
  const pause = createSharedPause(NODE_TURNS)
  for (const record of records.values()) {
    lines.set(before.get(record) ?? formatLine(form, record), record)
    const paused = pause()
    if (paused !== undefined) await paused
  }
  return { bytes: encodeLines([...lines.keys()]), lines }
}

/** Encodes lines, each with a line feed. */
export function encodeLines(lines: readonly string[]): Uint8Array {
  return new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''))
}

function formatLine<T extends Named>(form: LineFormat<T>, record: T): string {
  const text = form.format(record)
  return `${text.slice(0, -1)},"sum":"${sumOf(text)}"}`
}

/** Reads a line; one without a checksum is from before there were any. */
function parseLine<T extends Named>(form: LineFormat<T>, line: string): T | undefined {
  const [, text, sum] = LINE.exec(line) ?? []
  if (text !== undefined && sumOf(`${text}}`) !== sum) return undefined
  return form.parse(line)
}

function sumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, SUM_DIGITS)
}
