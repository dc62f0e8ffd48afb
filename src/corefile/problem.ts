/**
 * Where something stands in a configuration file, and what is wrong there.
 * @module
 */

/** A place in a file; lines and columns count from 1. */
export type Position = { readonly file: string; readonly line: number; readonly column: number }

/** A thing wrong with a configuration, for people: what it is and what to write instead. */
export type Problem = Position & { readonly message: string }

/** A configuration that cannot be used. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(formatProblem).join('\n'))
    this.problems = problems
  }
}

/** Makes the error for one place. */
export function configError(at: Position, message: string): ConfigError {
  return new ConfigError([problemAt(at, message)])
}

/** Characters of a message, which may quote a word of any length. */
const MESSAGE_CHARACTERS_MAX = 1000

/** Says something of a place. */
export function problemAt({ file, line, column }: Position, message: string): Problem {
  const isLong = message.length > MESSAGE_CHARACTERS_MAX
  const text = isLong ? `${message.slice(0, MESSAGE_CHARACTERS_MAX)}…` : message
  return { file, line, column, message: text }
}

/** Orders places within one file. */
export function comparePositions(a: Position, b: Position): number {
  return a.line - b.line || a.column - b.column
}

/**
 * Puts problems in the order in which a reader meets them: file by file, `first` before others.
 * What is wrong in a snippet is so wherever it is imported, and told once.
 */
export function sortProblems(problems: readonly Problem[], first: string): Problem[] {
  const files = [...new Set([first, ...problems.map(({ file }) => file)])]
  const unique = [...new Map(problems.map((one) => [formatProblem(one), one])).values()]
  return files.flatMap((file) =>
    unique.filter((problem) => problem.file === file).sort(comparePositions),
  )
}

/** Formats a problem as compilers do: `file:line:column: message`. */
export function formatProblem({ file, line, column, message }: Problem): string {
  return `${file}:${line}:${column}: ${message}`
}
