/**
 * From a directive `rewrite` to its rule.
 * @module
 */
import { configError, type Position } from '../../corefile/problem.ts'
import type { Directive, Word } from '../../corefile/server-block.ts'
import { parseCnameRule } from './cname-rule.ts'
import type { Metadata } from './edns0-data.ts'
import { parseEdns0Rule } from './edns0-rule.ts'
import { parseNameRule } from './name-rule.ts'
import { parseClassRule, parseTypeRule } from './question-rules.ts'
import { parseRcodeRule } from './rcode-rule.ts'
import type { Rule } from './rule.ts'
import { parseTtlRule } from './ttl-rule.ts'

/** A rule, and whether the rules after it are looked at no more once it has matched. */
export type OrderedRule = Rule & { readonly isLast: boolean }

/** Reads the words of one kind of rules. */
type ParseRule = (words: readonly Word[], at: Position, metadata: Metadata) => Rule

const KINDS: ReadonlyMap<string, ParseRule> = new Map([
  ['name', parseNameRule],
  ['type', parseTypeRule],
  ['class', parseClassRule],
  ['edns0', parseEdns0Rule],
  ['ttl', parseTtlRule],
  ['cname', parseCnameRule],
  ['rcode', parseRcodeRule],
])

/**
 * Reads `rewrite [continue|stop] FIELD …`, the field and what follows on the line or, as many lines
 * as you like, in braces.
 * @throws {ConfigError}
 */
export function parseRule(directive: Directive, metadata: Metadata): OrderedRule {
  const words = wordsOf(directive)
  const mode = words[0]?.text.toLowerCase()
  const hasMode = mode === 'continue' || mode === 'stop'
  const [field, ...rest] = hasMode ? words.slice(1) : words
  const kinds = [...KINDS.keys()].join(', ')
  if (field === undefined) throw configError(directive, `"rewrite" needs what to rewrite: ${kinds}`)
  const kind = field.text.toLowerCase()
  if (kind === 'answer') throw configError(field, '"answer" stands behind a rule for names only')
  const parse = KINDS.get(kind)
  if (parse === undefined) throw configError(field, `"${field.text}" cannot be rewritten: ${kinds}`)
  return { ...parse(rest, field, metadata), isLast: mode !== 'continue' }
}

/** Lines in braces are as good as one line, as long as nothing but the mode stands before them. */
function wordsOf({ args, lines }: Directive): readonly Word[] {
  const [line] = lines
  const word = line?.words[0]
  if (word !== undefined && args.length > 1) {
    throw configError(word, 'a rule stands on one line, or in braces as a whole')
  }
  const nested = lines.flatMap((one) => one.lines)[0]?.words[0]
  if (nested !== undefined) throw configError(nested, 'a rule has no braces within its braces')
  return [...args, ...lines.flatMap(({ words }) => words)]
}
