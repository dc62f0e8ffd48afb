/**
 * Parses a `rewrite` directive into its rule.
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

/** A rule, and whether it ends rewriting once it matches. */
export type OrderedRule = Rule & { readonly isLast: boolean }

/** Parses the arguments of one kind of rule. */
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
 * Parses `rewrite [continue|stop] FIELD …`. The field and its arguments are on the same line or, on
 * any number of lines, in braces.
 * @throws {ConfigError}
 */
export function parseRule(directive: Directive, metadata: Metadata): OrderedRule {
  const words = wordsOf(directive)
  const mode = words[0]?.text.toLowerCase()
  const hasMode = mode === 'continue' || mode === 'stop'
  const [field, ...rest] = hasMode ? words.slice(1) : words
  const kinds = [...KINDS.keys()].join(', ')
  if (field === undefined) throw configError(directive, `"rewrite" needs a field: ${kinds}`)
  const kind = field.text.toLowerCase()
  if (kind === 'answer') throw configError(field, '"answer" may only follow a name rule')
  const parse = KINDS.get(kind)
  if (parse === undefined) throw configError(field, `"${field.text}" cannot be rewritten: ${kinds}`)
  return { ...parse(rest, field, metadata), isLast: mode !== 'continue' }
}

/** Returns the words of a rule on one line or in braces; only the mode may precede the braces. */
function wordsOf({ args, lines }: Directive): readonly Word[] {
  const [line] = lines
  const word = line?.words[0]
  if (word !== undefined && args.length > 1) {
    throw configError(word, 'put the rule on one line, or all of it in braces')
  }
  const nested = lines.flatMap((one) => one.lines)[0]?.words[0]
  if (nested !== undefined) throw configError(nested, 'a rule cannot have nested braces')
  return [...args, ...lines.flatMap(({ words }) => words)]
}
