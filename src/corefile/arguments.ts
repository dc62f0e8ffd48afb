/**
 * Parses arguments and options of directives. Error messages say what to write instead.
 * @module
 */
import { type ConfigError, configError, type Position, type Problem, problemAt } from './problem.ts'
import type { Directive, Word } from './server-block.ts'
import { parseZones } from './zone-key.ts'

/** Returns the only directive of a plugin. @throws {ConfigError} at a second one */
export function onlyDirective(directives: readonly [Directive, ...Directive[]]): Directive {
  const [first, second] = directives
  if (second !== undefined) {
    throw configError(second, `"${second.name}" appears twice in this server block; remove one`)
  }
  return first
}

/**
 * Returns the arguments of a plugin's only directive, which takes no block.
 * @throws {ConfigError} at a second directive, a block, or an argument beyond `max`
 */
export function onlyArgs(
  directives: readonly [Directive, ...Directive[]],
  max: number = Infinity,
): readonly Word[] {
  const directive = onlyDirective(directives)
  const args = checkArgs(directive, max)
  checkNoBlock(directive)
  return args
}

/** Returns a directive's arguments. @throws {ConfigError} at the first one beyond `max` */
export function checkArgs(directive: Directive, max: number): readonly Word[] {
  const surplus = directive.args[max]
  if (surplus !== undefined) {
    const allowed = max === 0 ? 'no arguments' : `at most ${max} argument(s)`
    throw configError(surplus, `"${directive.name}" takes ${allowed}, got "${surplus.text}"`)
  }
  return directive.args
}

/** Rejects a block in braces. @throws {ConfigError} at its first word */
export function checkNoBlock(directive: Directive): void {
  const [line] = directive.lines
  const word = line?.words[0]
  if (word !== undefined) {
    throw configError(word, `"${directive.name}" has no options; remove "${word.text}"`)
  }
}

/** An option in a directive's block: its name, and the rest of its line. */
export type Option = Position & {
  readonly name: string
  readonly args: readonly Word[]
}

/** Lists the options in a directive's block. @throws {ConfigError} at an option with a block */
export function options(directive: Directive): Option[] {
  return directive.lines.flatMap(({ words, lines }) => {
    const [first, ...args] = words
    if (first === undefined) return []
    const { file, line, column, text } = first
    const inner = lines[0]?.words[0]
    if (inner !== undefined) throw configError(inner, `"${text}" takes no block`)
    return [{ file, line, column, name: text, args }]
  })
}

/**
 * Parsers of options by name. Each returns what its option changes in the draft. A text refuses the
 * option with that message; `null` ignores it. Messages suggest neither of these two.
 */
export type OptionReaders<Draft> = Readonly<
  Record<string, ((option: Option, draft: Draft) => Partial<Draft> | undefined) | string | null>
>

/**
 * Parses all options of a directive into a draft, each with the parser of its name. Inherited
 * properties such as `constructor` are not options.
 * @returns the draft
 * @throws {ConfigError} at the first unknown option
 */
export function readOptions<Draft extends object>(
  directive: Directive,
  readers: OptionReaders<Draft>,
  draft: Draft,
): Draft {
  for (const option of options(directive)) {
    if (readOption(option, readers, draft)) continue
    const known = Object.keys(readers).filter((name) => typeof readers[name] === 'function')
    throw unknownOption(directive.name, option, known)
  }
  return draft
}

/** Parses one option into a draft. Returns false for an unknown option. */
export function readOption<Draft extends object>(
  option: Option,
  readers: OptionReaders<Draft>,
  draft: Draft,
): boolean {
  const read = Object.hasOwn(readers, option.name) ? readers[option.name] : undefined
  if (typeof read === 'string') throw configError(option, read)
  if (read !== undefined) Object.assign(draft, read?.(option, draft))
  return read !== undefined
}

/** Creates the error for an unknown option, with the nearest known one or the list of all. */
export function unknownOption(
  plugin: string,
  option: Option,
  known: readonly string[],
): ConfigError {
  const near = nearest(option.name, known)
  const hint = near === undefined ? `it has ${known.join(', ')}` : `did you mean "${near}"?`
  return configError(option, `"${plugin}" has no option "${option.name}"; ${hint}`)
}

/** Returns an option's arguments. @throws {ConfigError} unless there are `min` to `max` */
export function argTexts(option: Option, min: number, max: number = min): string[] {
  const count = option.args.length
  if (count < min || count > max) {
    const wanted =
      min === max ? String(min) : max === Infinity ? `${min} or more` : `${min} to ${max}`
    throw configError(option, `"${option.name}" takes ${wanted} argument(s), got ${count}`)
  }
  return option.args.map(({ text }) => text)
}

/** Returns true for an option without arguments. @throws {ConfigError} at arguments */
export function flag(option: Option): true {
  argTexts(option, 0)
  return true
}

/** Returns an option's only argument. @throws {ConfigError} for another number of arguments */
export function onlyWord(option: Option): Word {
  argTexts(option, 1)
  const [word] = option.args
  return word ?? { ...option, text: '' }
}

/**
 * Returns the first argument of an option. Ignores the others, as CoreDNS does, and adds a notice.
 */
export function firstWord(option: Option, notices: Problem[]): Word {
  argTexts(option, 1, Infinity)
  const [word, surplus] = option.args
  if (surplus !== undefined) {
    const message = `"${option.name}" takes one argument; "${surplus.text}" is ignored`
    notices.push(problemAt(surplus, message))
  }
  return word ?? { ...option, text: '' }
}

/** Returns the choice that a word names. @throws {ConfigError} with a list of the choices */
export function parseChoice<T extends string>(word: Word, choices: readonly T[]): T {
  const found = choices.find((one) => one === word.text)
  if (found !== undefined) return found
  throw configError(word, `"${word.text}" is not one of ${choices.join(', ')}`)
}

/** Parses an integer. @throws {ConfigError} unless it is between `min` and `max` */
export function parseCount(word: Word, min: number, max: number): number {
  const value = Number(word.text)
  if (!/^\d+$/.test(word.text) || value < min || value > max) {
    throw configError(word, `"${word.text}" is not a number from ${min} to ${max}`)
  }
  return value
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

/** Parts of a Go duration. Its micro sign is U+00B5 or U+03BC. */
const DURATION = /^\+?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/
const DURATION_PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g
/** Go's longest duration, of 2^63 - 1 nanoseconds. */
const DURATION_MS_MAX = 2 ** 63 / 1e6

/** Parses a Go duration such as `30s`, `1m30s` or `.5s`, but not `-1s`. Returns milliseconds. */
export function parseDuration(word: Word): number {
  const { text } = word
  if (/^[+-]?0$/.test(text)) return 0
  let total = DURATION.test(text) ? 0 : Infinity
  for (const [, amount, unit] of text.matchAll(DURATION_PART)) {
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0)
  }
  if (total <= DURATION_MS_MAX) return total
  throw configError(word, `"${text}" is not a duration such as 30s, 1m30s or 500ms`)
}

/**
 * Validates a listen address: `HOST:PORT`, `[ADDRESS]:PORT`, or `:PORT` for all addresses.
 * @returns the text unchanged
 */
export function listenAddressOf(word: Word): string {
  const port = /^(?:\[[^\]]+\]|[^:[\]]*):(\d{1,5})$/.exec(word.text)?.[1]
  if (port !== undefined && Number(port) <= 65535) return word.text
  throw configError(word, `"${word.text}" is neither HOST:PORT nor :PORT`)
}

/** Parses zones; returns `otherwise` if there are none. */
export function zonesOf(
  words: readonly Word[],
  otherwise: readonly Uint8Array[],
): readonly Uint8Array[] {
  return words.length === 0 ? otherwise : words.flatMap((word) => parseZones(word.text, word))
}

/** Returns the nearest known word within an edit distance of two; `undefined` for none. */
export function nearest(text: string, known: readonly string[]): string | undefined {
  const ranked = known.map((word) => ({ word, distance: editDistance(text, word) }))
  const best = ranked.sort((a, b) => a.distance - b.distance)[0]
  return best !== undefined && best.distance <= 2 ? best.word : undefined
}

/** Damerau–Levenshtein distance: letters to change, insert, delete or swap with the next. */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
