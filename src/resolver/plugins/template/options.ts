/**
 * The options of a `template` directive (CoreDNS, plugin/template/setup.go).
 * @module
 */

import {
  argTexts,
  type Option,
  type OptionReaders,
  onlyWord,
  readOptions,
  zonesOf,
} from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { ROOT } from '../../../dns/names/name.ts'
import { parseRcode, RCODE } from '../../../dns/names/rcode.ts'
import { parseClass } from '../../../dns/names/rr-class.ts'
import { parseType } from '../../../dns/names/rr-type.ts'
import { type EdnsOption, extendedError } from '../../../dns/wire/edns.ts'
import type { EnvironmentFunction, EnvironmentVariable } from '../../../go/expression/built-in.ts'
import { type Expression, isFreeName } from '../../../go/expression/expression.ts'
import { ARRAY, STRING, type Type, UNKNOWN } from '../../../go/expression/type.ts'
import type { Value } from '../../../go/expression/value.ts'
import type { Pattern } from '../../../go/pattern/pattern.ts'
import { TemplateError } from '../../../go/template/datum.ts'
import { TEMPLATE_FUNCTIONS } from '../../../go/template/functions.ts'
import { parseTemplate } from '../../../go/template/parser.ts'
import { formatParts, type Part } from '../../../go/template/syntax.ts'
import { compileWords } from '../../plugin-kit/expression-words.ts'
import { type QueryContext, queryFunctions } from '../../plugin-kit/query-functions.ts'
import { wrongRcode } from '../../plugin-kit/rcode-words.ts'
import type { Fallthrough } from '../../plugin-kit/zones.ts'
import { parsePattern } from '../rewrite/name-match.ts'

/** The input of a rule's expressions. */
export type RuleContext = QueryContext & {
  /** The groups of the match, by number and by name. */
  readonly groups: ReadonlyMap<string, string>
  readonly variables: ReadonlyMap<string, Value>
}

/** The template of one record. */
export type RecordTemplate = {
  readonly parts: readonly Part[]
  /** Its text in Go's normal form, for metrics. */
  readonly text: string
}

/** A variable of a rule. */
export type RuleVariable = { readonly name: string; readonly expression: Expression<RuleContext> }

/** One directive. */
export type Rule = {
  readonly class: number
  readonly type: number
  readonly zones: readonly Uint8Array[]
  /** Empty if every name matches. */
  readonly patterns: readonly Pattern[]
  readonly variables: readonly RuleVariable[]
  readonly conditions: readonly Expression<RuleContext>[]
  readonly records: Readonly<Record<Section, readonly RecordTemplate[]>>
  readonly rcode: number
  readonly extendedErrors: readonly EdnsOption[]
  readonly fallthrough: Fallthrough
}

/** A section of a response. */
export type Section = 'answer' | 'additional' | 'authority'

type Known = EnvironmentFunction<RuleContext> | EnvironmentVariable<RuleContext>

type Draft = Rule & {
  /** The names that later expressions of the rule may use. */
  readonly environment: Map<string, Known>
}

const FUNCTION_NAMES: ReadonlySet<string> = new Set(TEMPLATE_FUNCTIONS.keys())
const EXTENDED_ERROR_MAX = 65_535

/** `group(NUMBER)` or `group('NAME')`; '' for an unknown group. */
const GROUP: Known = {
  kind: 'function',
  takes: ['any'],
  gives: STRING,
  call: ({ groups }, key) =>
    typeof key === 'string' || typeof key === 'bigint' ? (groups.get(String(key)) ?? '') : '',
}

/** Parses a directive. @throws {ConfigError} */
export function parseRule(directive: Directive, blockZones: readonly Uint8Array[]): Rule {
  const [classWord, typeWord, ...zoneWords] = directive.args
  if (classWord === undefined || typeWord === undefined) {
    throw configError(directive, '"template" takes a class and a type, such as "template IN A"')
  }
  const draft = readOptions<Draft>(directive, READERS, {
    class: mnemonic(classWord, 'class', parseClass),
    type: mnemonic(typeWord, 'type', parseType),
    zones: zonesOf(zoneWords, blockZones),
    patterns: [],
    variables: [],
    conditions: [],
    records: { answer: [], additional: [], authority: [] },
    rcode: RCODE.NOERROR,
    extendedErrors: [],
    fallthrough: undefined,
    environment: new Map<string, Known>([...queryFunctions(), ['group', GROUP]]),
  })
  const { environment: _, ...rule } = draft
  return rule
}

const READERS: OptionReaders<Draft> = {
  match: (option, { patterns }) => {
    argTexts(option, 1, Infinity)
    return { patterns: [...patterns, ...option.args.map((word) => parsePattern(word))] }
  },
  answer: records('answer'),
  additional: records('additional'),
  authority: records('authority'),
  var: readVariable,
  expr: (option, { conditions, environment }) => ({
    conditions: [...conditions, compileWords(option, option.args, environment)],
  }),
  rcode: (option) => ({ rcode: readRcode(onlyWord(option)) }),
  ederror: (option) => ({ extendedErrors: [readExtendedError(option)] }),
  fallthrough: ({ args }) => ({ fallthrough: zonesOf(args, [ROOT]) }),
  // CoreDNS before 1.5 had this option; later versions ignore it.
  upstream: null,
}

function records(section: Section): (option: Option, draft: Draft) => Partial<Draft> {
  return (option, draft) => {
    argTexts(option, 1, Infinity)
    const own = [...draft.records[section], ...option.args.map(compileRecord)]
    return { records: { ...draft.records, [section]: own } }
  }
}

/** Parses a response code, in capitals as in CoreDNS. */
function readRcode(word: Word): number {
  const rcode = parseRcode(word.text)
  if (rcode === undefined || word.text !== word.text.toUpperCase()) throw wrongRcode(word)
  return rcode
}

/** Parses a mnemonic. As CoreDNS, wants capitals and does not accept the form TYPE65280. */
function mnemonic(word: Word, what: string, parse: (text: string) => number | undefined): number {
  const { text } = word
  const value = parse(text)
  if (value !== undefined && text === text.toUpperCase() && !/^(TYPE|CLASS)\d/.test(text)) {
    return value
  }
  const hint = value !== undefined && text !== text.toUpperCase() ? '; write capitals' : ''
  throw configError(word, `"${text}" is not a ${what}${hint}`)
}

function compileRecord(word: Word): RecordTemplate {
  try {
    const parts = parseTemplate(word.text, FUNCTION_NAMES)
    return { parts, text: formatParts(parts) }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    throw configError(word, `not a template: ${error.message}`)
  }
}

function readVariable(option: Option, { variables, environment }: Draft): Partial<Draft> {
  const [word, ...words] = option.args
  if (word === undefined) throw configError(option, '"var" takes a name and an expression')
  const name = word.text
  if (!isFreeName(name, environment)) {
    throw configError(word, `"${name}" is already in use or not a valid variable name`)
  }
  const expression = compileWords(option, words, environment)
  const read = (context: RuleContext): Value => context.variables.get(name)
  environment.set(name, { kind: 'variable', type: variableType(expression.type), read })
  return { variables: [...variables, { name, expression }] }
}

/** Widens a variable's type: its list elements, and whether it is nil, show only in values. */
function variableType(type: Type): Type {
  if (type.kind === 'array') return ARRAY
  return type.kind === 'nil' ? UNKNOWN : type
}

function readExtendedError(option: Option): EdnsOption {
  const [word] = option.args
  const [code = '', reason = ''] = argTexts(option, 1, 2)
  if (!/^\d{1,20}$/.test(code) || Number(code) > EXTENDED_ERROR_MAX) {
    throw configError(word ?? option, `"${code}" is not a number from 0 to ${EXTENDED_ERROR_MAX}`)
  }
  return extendedError(Number(code), reason)
}
