/**
 * Reads a set of characters in brackets.
 * @module
 */
import { PERL_CLASSES, POSIX_CLASSES } from './classes.ts'
import { parseCodePoint, parseProperty } from './parse-escape.ts'
import type { PatternScanner } from './scanner.ts'
import { type CharacterSet, type CodeRange, negated, PatternError, setOf } from './syntax.ts'

/** Reads from `[` to its `]`. @throws {PatternError} */
export function parseBrackets(scanner: PatternScanner, folds: boolean): CharacterSet {
  scanner.skip(1)
  const isNegated = scanner.take('^')
  const ranges: CodeRange[] = []
  const sets: CharacterSet[] = []
  for (let isFirst = true; isFirst || !scanner.sees(']'); isFirst = false) {
    if (scanner.isAtEnd) throw new PatternError('a "[" is never closed')
    const named = namedSet(scanner, folds)
    if (named === undefined) ranges.push(parseRange(scanner))
    else sets.push(named)
  }
  scanner.skip(1)
  return { ranges, sets, isNegated, folds }
}

function namedSet(scanner: PatternScanner, folds: boolean): CharacterSet | undefined {
  const posix = /^\[:(\^?)(\w+):\]/.exec(scanner.rest(16))
  if (posix !== null) {
    const [text, caret, name = ''] = posix
    const ranges = POSIX_CLASSES[name]
    if (ranges === undefined) throw new PatternError(`"${text}" names no kind of characters`)
    scanner.skip(text.length)
    return caret === '' ? setOf(ranges, folds) : negated(setOf(ranges, folds))
  }
  const [, letter = ''] = /^\\([dswDSW])/.exec(scanner.rest(2)) ?? []
  const perl = PERL_CLASSES[letter.toLowerCase()]
  if (perl === undefined) return parseProperty(scanner, folds)
  scanner.skip(2)
  return letter === letter.toLowerCase() ? setOf(perl, folds) : negated(setOf(perl, folds))
}

/** Reads one character or two with a `-` between. */
function parseRange(scanner: PatternScanner): CodeRange {
  const text = scanner.rest(3)
  const first = parseOne(scanner)
  if (!scanner.sees('-') || scanner.rest(2)[1] === ']' || scanner.rest(2).length < 2) {
    return [first, first]
  }
  scanner.skip(1)
  const last = parseOne(scanner)
  if (last < first) throw new PatternError(`"${text}" in brackets is not a range`)
  return [first, last]
}

function parseOne(scanner: PatternScanner): number {
  return scanner.sees('\\') ? parseCodePoint(scanner) : (scanner.next().codePointAt(0) ?? 0)
}
