/**
 * Splits a template into text and the tokens of its actions (Go, text/template/parse/lex.go).
 * @module
 */
import { matchAt } from '../expression/lexemes.ts'
import { TemplateError } from './datum.ts'

/** A token; `text` is its source text. */
export type Token = {
  readonly kind:
    | 'text'
    | 'open'
    | 'close'
    | 'field'
    | 'variable'
    | 'word'
    | 'string'
    | 'number'
    | 'character'
    | 'dot'
    | 'sign'
    | 'end'
  readonly text: string
  /** Whether a space precedes it. */
  readonly isSpaced: boolean
}

const OPEN = '{{'
const SPACES = /[ \t\r\n]+/y
const CLOSE = /(?:[ \t\r\n]+-)?\}\}/y
const TRIMMED_OPEN = /^-[ \t\r\n]/
const COMMENT = /\/\*[\s\S]*?\*\//y
const TOKENS: readonly (readonly [kind: Token['kind'], pattern: RegExp])[] = [
  ['string', /"(?:[^"\\\n]|\\[^\n])*"|`[^`]*`/y],
  ['character', /'(?:[^'\\\n]|\\[^\n])*'/y],
  ['number', /[+-]?(?:\.\d|\d)[\d_a-zA-Z.]*(?:(?<=[eEpP])[+-][\d_]+)?/y],
  ['variable', /\$[\p{L}\p{Nd}_]*/uy],
  ['field', /\.[\p{L}\p{Nd}_]+/uy],
  ['dot', /\./y],
  ['word', /[\p{L}\p{Nd}_]+/uy],
  ['sign', /:=|[=|(),]/y],
]
/** What may follow a name without a space. */
const TERMINATOR = /[ \t\r\n.,|:)(]|\}\}|$/y

/** Splits a template. @throws {TemplateError} */
export function readTokens(template: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  let trimsNext = false
  for (;;) {
    const open = template.indexOf(OPEN, at)
    const end = open < 0 ? template.length : open
    const isTrimmed = open >= 0 && TRIMMED_OPEN.test(template.slice(open + 2, open + 4))
    let text = template.slice(at, end)
    if (trimsNext) text = text.replace(/^[ \t\r\n]+/, '')
    if (isTrimmed) text = text.replace(/[ \t\r\n]+$/, '')
    if (text !== '') tokens.push({ kind: 'text', text, isSpaced: false })
    if (open < 0) break
    const action = readAction(template, open + (isTrimmed ? 4 : 2))
    tokens.push(...action.tokens)
    trimsNext = action.trimsNext
    at = action.end
  }
  tokens.push({ kind: 'end', text: 'the end of the template', isSpaced: false })
  return tokens
}

type Action = {
  readonly tokens: readonly Token[]
  readonly end: number
  readonly trimsNext: boolean
}

function readAction(template: string, start: number): Action {
  const comment = matchAt(COMMENT, template, start)
  if (comment !== undefined || template.startsWith('/*', start)) {
    const close = matchAt(CLOSE, template, start + (comment?.length ?? 0))
    if (comment === undefined || close === undefined) {
      throw new TemplateError('a comment must end right before "}}"')
    }
    const end = start + comment.length + close.length
    return { tokens: [], end, trimsNext: close.length > 2 }
  }
  const tokens: Token[] = [{ kind: 'open', text: OPEN, isSpaced: false }]
  let at = start
  for (;;) {
    const close = matchAt(CLOSE, template, at)
    if (close !== undefined) {
      tokens.push({ kind: 'close', text: '}}', isSpaced: false })
      return { tokens, end: at + close.length, trimsNext: close.length > 2 }
    }
    const space = matchAt(SPACES, template, at)?.length ?? 0
    if (space > 0 && matchAt(CLOSE, template, at + space) !== undefined) {
      at += space
      continue
    }
    const token = readToken(template, at + space, space > 0)
    tokens.push(token)
    at += space + token.text.length
  }
}

function readToken(template: string, at: number, isSpaced: boolean): Token {
  if (at >= template.length) throw new TemplateError('an action is not closed by "}}"')
  for (const [kind, pattern] of TOKENS) {
    const text = matchAt(pattern, template, at)
    if (text === undefined) continue
    const isName = kind === 'variable' || kind === 'field' || kind === 'word'
    if (isName && matchAt(TERMINATOR, template, at + text.length) === undefined) {
      const char = template.charAt(at + text.length)
      throw new TemplateError(`"${char}" cannot follow "${text}"`)
    }
    return { kind, text, isSpaced }
  }
  const char = template.charAt(at)
  const isQuote = char === '"' || char === '`' || char === "'"
  throw new TemplateError(
    isQuote ? `a ${char} is not closed` : `"${char}" is not valid in an action`,
  )
}
