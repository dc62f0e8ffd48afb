/**
 * Rules that change the type or class of a query. The response has the original question and the
 * records of the new one.
 * @module
 */
import { configError, type Position } from '../../corefile/problem.ts'
import type { Word } from '../../corefile/server-block.ts'
import { CLASS, parseClass } from '../../dns/rr-class.ts'
import { parseType, TYPE } from '../../dns/rr-type.ts'
import { NO_RESPONSE_RULES, type QuestionDraft, type Rule } from './rule.ts'

/** Parses `type FROM TO`. @throws {ConfigError} */
export function parseTypeRule(words: readonly Word[], at: Position): Rule {
  const [from, to] = parsePair(words, at, 'type')
  const fromType = typeOf(from)
  const toType = typeOf(to)
  if (toType === TYPE.TKEY || toType === TYPE.TSIG) {
    throw configError(to, `"${to.text}" is not a query type`)
  }
  return {
    mayMatch: ({ type }) => type === fromType,
    rewrite: (draft) => change(draft, 'type', fromType, toType),
  }
}

/** Parses `class FROM TO`. @throws {ConfigError} */
export function parseClassRule(words: readonly Word[], at: Position): Rule {
  const [from, to] = parsePair(words, at, 'class')
  const fromClass = classOf(from)
  const toClass = classOf(to)
  return {
    mayMatch: () => fromClass === CLASS.IN,
    rewrite: (draft) => change(draft, 'class', fromClass, toClass),
  }
}

function change(
  draft: QuestionDraft,
  field: 'type' | 'class',
  from: number,
  to: number,
): ReturnType<Rule['rewrite']> {
  if (draft[field] !== from) return undefined
  draft[field] = to
  return NO_RESPONSE_RULES
}

function parsePair(words: readonly Word[], at: Position, what: string): readonly [Word, Word] {
  const [from, to, surplus] = words
  if (from !== undefined && to !== undefined && surplus === undefined) return [from, to]
  throw configError(surplus ?? at, `a ${what} rule takes FROM and TO`)
}

function typeOf(word: Word): number {
  const type = /^type\d/i.test(word.text) ? undefined : parseType(word.text)
  if (type !== undefined) return type
  throw configError(word, `"${word.text}" is not the name of a type, such as AAAA`)
}

function classOf(word: Word): number {
  const value = /^class\d/i.test(word.text) ? undefined : parseClass(word.text)
  if (value !== undefined) return value
  throw configError(
    word,
    `"${word.text}" is not the name of a class: ${Object.keys(CLASS).join(', ')}`,
  )
}
