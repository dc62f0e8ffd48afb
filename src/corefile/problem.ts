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
  const { file, line, column } = at
  return new ConfigError([{ file, line, column, message }])
}

/** Formats a problem as compilers do: `file:line:column: message`. */
export function formatProblem({ file, line, column, message }: Problem): string {
  return `${file}:${line}:${column}: ${message}`
}
