/**
 * Configures a plugin, and when something is wrong finds the rest of what is wrong as well: what
 * was found is taken out, and the plugin configured again, for as long as that finds more.
 * @module
 */
import { ConfigError, type Position, type Problem } from '../corefile/problem.ts'
import type { Directive, Line, Word } from '../corefile/server-block.ts'
import { findSetup } from './registry.ts'
import type { SetupContext, SetupResult } from './setup.ts'

/** Directives of one plugin in one server block. */
export type DirectiveGroup = [Directive, ...Directive[]]

/** Problems after which no more are looked for. */
export const PROBLEMS_MAX = 100

/** Plugins whose arguments are a list, in which none depends on the one before it. */
const LISTS: ReadonlySet<string> = new Set(
  'bind cache etcd forward k8s_external k8s_gateway kubernetes secondary transfer'.split(' '),
)

/** @throws {ConfigError} with all that is wrong in the directives */
export function configurePlugin(directives: DirectiveGroup, context: SetupContext): SetupResult {
  const setup = findSetup(context.host.plugins, directives[0])
  try {
    return setup(directives, context)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError([...error.problems, ...furtherProblems(directives, context, error)])
  }
}

/** What remains to be found when what was found is not there. */
function furtherProblems(
  directives: DirectiveGroup,
  context: SetupContext,
  { problems }: ConfigError,
): Problem[] {
  const found: Problem[] = []
  let last = problems
  let rest: readonly Directive[] = directives
  while (found.length < PROBLEMS_MAX) {
    const before = sizeOf(rest)
    for (const problem of last) rest = without(rest, problem)
    const [first, ...others] = rest
    if (first === undefined || sizeOf(rest) === before) return found
    last = problemsOf([first, ...others], context)
    // What is wrong with a directive as a whole may be so because of what was taken out of it.
    const changed = rest.filter((directive) => !directives.includes(directive))
    const isOurs = last.some((one) => changed.some((directive) => isAt(directive, one)))
    if (last.length === 0 || isOurs) return found
    found.push(...last)
  }
  return found
}

function problemsOf(directives: DirectiveGroup, context: SetupContext): readonly Problem[] {
  try {
    findSetup(context.host.plugins, directives[0])(directives, context)
    return []
  } catch (error) {
    // Whatever else stands in the way is met again when the Corefile is mended.
    return error instanceof ConfigError ? error.problems : []
  }
}

/** Takes out the word of a list, the line or else the whole directive that stands at a place. */
function without(directives: readonly Directive[], at: Position): readonly Directive[] {
  return directives.flatMap((directive): readonly Directive[] => {
    const isWord = directive.args.some((word) => isAt(word, at))
    if (isAt(directive, at) || (isWord && !LISTS.has(directive.name))) return []
    const args = directive.args.filter((word) => !isAt(word, at))
    const lines = directive.lines.filter((line) => !hasWordAt(line, at))
    const changed = { ...directive, args, lines }
    return sizeOf([changed]) === sizeOf([directive]) ? [directive] : [changed]
  })
}

function hasWordAt({ words, lines }: Line, at: Position): boolean {
  return words.some((word) => isAt(word, at)) || lines.some((line) => hasWordAt(line, at))
}

function isAt(word: Word | Directive, { file, line, column }: Position): boolean {
  return word.line === line && word.column === column && word.file === file
}

function sizeOf(directives: readonly Directive[]): number {
  return directives.reduce((size, { args, lines }) => size + 1 + args.length + lines.length, 0)
}
