/**
 * Positions and errors in configuration files.
 * @module
 */
import { escapeControls } from '../dns/bytes/escape-controls.ts'

/** A position in a file; lines and columns count from 1. */
export type Position = { readonly file: string; readonly line: number; readonly column: number }

/** An error or a warning; its message says what is wrong and what to write instead. */
export type Problem = Position & { readonly message: string }

/** Errors of an unusable configuration. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'))
    this.problems = problems
  }
}

/** Creates an error with one problem. */
export function configError(at: Position, message: string): ConfigError {
  return new ConfigError([problemAt(at, message)])
}

/** Maximum length of a message, which may quote a word of any length. */
const MESSAGE_CHARACTERS_MAX = 1000

/** Creates a problem at a position; shortens long messages. */
export function problemAt({ file, line, column }: Position, message: string): Problem {
  const isLong = message.length > MESSAGE_CHARACTERS_MAX
  const text = isLong ? `${message.slice(0, MESSAGE_CHARACTERS_MAX)}…` : message
  return { file, line, column, message: text }
}

/** Compares positions within one file. */
export function comparePositions(a: Position, b: Position): number {
  return a.line - b.line || a.column - b.column
}

/**
 * Sorts problems by file, `first` before the others, and position. Removes duplicates, such as a
 * problem in a snippet that several server blocks import.
 */
export function sortProblems(problems: readonly Problem[], first: string): Problem[] {
  const files = [...new Set([first, ...problems.map(({ file }) => file)])]
  const unique = [...new Map(problems.map((one) => [formatProblem(one), one])).values()]
  return files.flatMap((file) =>
    unique.filter((problem) => problem.file === file).sort(comparePositions),
  )
}

/** Formats a problem like a compiler: `file:line:column: message`, without control characters. */
export function formatProblem({ file, line, column, message }: Problem): string {
  return escapeControls(`${file}:${line}:${column}: ${message}`)
}
