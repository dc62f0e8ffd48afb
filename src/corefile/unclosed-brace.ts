/**
 * Which brace is missing when a Corefile ends too early: the indentation tells.
 * @module
 */
import type { Position } from './problem.ts'
import { isBrace, isSameLine, type Token } from './tokens.ts'

/** What to say of a Corefile that ends within a block. */
export type UnclosedBrace = {
  readonly at: Token
  readonly message: string
  /** From where words may belong to other blocks than it seems; `undefined` when from nowhere. */
  readonly doubtfulFrom: Position | undefined
}

/** An opening brace, the column in which its line begins, and whether what follows is indented. */
type Open = { readonly brace: Token; readonly indent: number; isIndented: boolean }

/**
 * Finds what to blame when nothing closes `opening` until the end: a quote that never closes, a
 * block whose closing brace stands further left than it began, one within which another begins as
 * far left, or else `opening` itself.
 */
export function findUnclosed(tokens: readonly Token[], opening: Token): UnclosedBrace {
  const last = tokens.at(-1)
  if (last?.mishap === 'open quote') {
    return { at: last, message: 'this quote is never closed', doubtfulFrom: startOfLine(last) }
  }
  const message = 'this "{" is never closed'
  return findMisplaced(tokens, opening) ?? { at: opening, message, doubtfulFrom: undefined }
}

function findMisplaced(tokens: readonly Token[], opening: Token): UnclosedBrace | undefined {
  const open: Open[] = []
  let indent = 1
  for (const [i, token] of tokens.entries()) {
    if (token.file !== opening.file) continue
    const previous = tokens[i - 1]
    const isFirst = previous === undefined || !isSameLine(previous, token)
    const block = open.at(-1)
    if (isFirst) indent = token.column
    if (block !== undefined && indent > block.indent) block.isIndented = true
    if (isBrace(token, '{')) {
      if (block?.isIndented && indent <= block.indent) return overrun(block.brace, token)
      open.push({ brace: token, indent, isIndented: false })
    } else if (isBrace(token, '}')) {
      open.pop()
      const meant = open.findLast((one) => one.indent === token.column)
      if (block === undefined || !isFirst || block.indent <= token.column) continue
      if (meant !== undefined) return outdented(block.brace, token, meant.brace)
    }
  }
  return undefined
}

/** Another block begins where only what is behind this one should. */
function overrun(at: Token, { line }: Token): UnclosedBrace {
  const message = `this "{" is never closed: a "}" is missing before line ${line}`
  return { at, message, doubtfulFrom: { file: at.file, line, column: 1 } }
}

/** What closes this block stands where it should close another. */
function outdented(at: Token, { line }: Token, meant: Token): UnclosedBrace {
  const message =
    `this "{" is not closed: the "}" of line ${line} stands where it would close ` +
    `the one of line ${meant.line}`
  return { at, message, doubtfulFrom: startOfLine(at) }
}

function startOfLine({ file, line }: Token): Position {
  return { file, line, column: 1 }
}
