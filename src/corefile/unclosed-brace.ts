/**
 * Finds the brace that is missing when a Corefile ends within a block, by its indentation.
 * @module
 */
import { isBrace, isSameLine, type Lexeme } from './lexemes.ts'
import type { Position } from './problem.ts'

/** The error for a Corefile that ends within a block. */
export type UnclosedBrace = {
  readonly at: Lexeme
  readonly message: string
  /** From here, lexemes may belong to other blocks than they seem to; `undefined` for nowhere. */
  readonly doubtfulFrom: Position | undefined
}

/** An opening brace, the column of its line's start, and whether its block is indented. */
type Open = { readonly brace: Lexeme; readonly indent: number; isIndented: boolean }

/**
 * Finds the most likely mistake when `opening` is not closed: a quote that is not closed, a block
 * whose closing brace is further left than its start, a block in which another one starts at the
 * same column, or else `opening` itself.
 */
export function findUnclosed(lexemes: readonly Lexeme[], opening: Lexeme): UnclosedBrace {
  const last = lexemes.at(-1)
  if (last?.mishap === 'open quote') {
    return { at: last, message: 'this quote is not closed', doubtfulFrom: startOfLine(last) }
  }
  const message = 'this "{" is not closed'
  return findMisplaced(lexemes, opening) ?? { at: opening, message, doubtfulFrom: undefined }
}

function findMisplaced(lexemes: readonly Lexeme[], opening: Lexeme): UnclosedBrace | undefined {
  const open: Open[] = []
  let indent = 1
  for (const [i, lexeme] of lexemes.entries()) {
    if (lexeme.file !== opening.file) continue
    const previous = lexemes[i - 1]
    const isFirst = previous === undefined || !isSameLine(previous, lexeme)
    const block = open.at(-1)
    if (isFirst) indent = lexeme.column
    if (block !== undefined && indent > block.indent) block.isIndented = true
    if (isBrace(lexeme, '{')) {
      if (block?.isIndented && indent <= block.indent) return overrun(block.brace, lexeme)
      open.push({ brace: lexeme, indent, isIndented: false })
    } else if (isBrace(lexeme, '}')) {
      open.pop()
      const meant = open.findLast((one) => one.indent === lexeme.column)
      if (block === undefined || !isFirst || block.indent <= lexeme.column) continue
      if (meant !== undefined) return outdented(block.brace, lexeme, meant.brace)
    }
  }
  return undefined
}

/** The next block starts before this one is closed. */
function overrun(at: Lexeme, { line }: Lexeme): UnclosedBrace {
  const message = `this "{" is not closed: a "}" is missing before line ${line}`
  return { at, message, doubtfulFrom: { file: at.file, line, column: 1 } }
}

/** The brace that closes this block is indented like that of another block. */
function outdented(at: Lexeme, { line }: Lexeme, meant: Lexeme): UnclosedBrace {
  const message =
    `this "{" is not closed: by its indentation, the "}" on line ${line} closes ` +
    `the block of line ${meant.line}`
  return { at, message, doubtfulFrom: startOfLine(at) }
}

function startOfLine({ file, line }: Lexeme): Position {
  return { file, line, column: 1 }
}
