/**
 * Sets up a plugin. After a mistake, removes the wrong part and sets the plugin up again for as
 * long as that finds more mistakes, so that one run reports them all.
 * @module
 */

import { ConfigError, type Position, type Problem, problemAt } from '../../corefile/problem.ts'
import type { Directive, Line, Word } from '../../corefile/server-block.ts'
import type { Steps } from '../../dns/bytes/steps.ts'
import type { PluginEntry } from '../contract/plugin-entry.ts'
import type { SetupContext, SetupResult } from '../contract/setup.ts'

/** All directives of one plugin in one server block. */
export type DirectiveGroup = [Directive, ...Directive[]]

/** Problems after which the search for more ends. */
export const PROBLEMS_MAX = 100

/**
 * Sets up a plugin, in steps.
 * @throws {ConfigError} with every mistake in the directives
 */
export function* configurePlugin(
  plugin: PluginEntry,
  directives: DirectiveGroup,
  context: SetupContext,
): Steps<SetupResult> {
  const { name, counts } = plugin
  const [first, second] = directives
  if (counts === undefined || second === undefined) {
    return yield* configureAll(plugin, directives, context)
  }
  const counting = counts === 'first' ? first : (directives.at(-1) ?? first)
  const result = yield* configureAll(plugin, [counting], context)
  const message = `"${name}" appears twice in this server block; only the ${counts} one counts`
  const ignored = directives.filter((one) => one !== counting)
  const notices = ignored.map((one) => problemAt(one, message))
  return { ...result, notices: [...notices, ...(result.notices ?? [])] }
}

function* configureAll(
  plugin: PluginEntry,
  directives: DirectiveGroup,
  context: SetupContext,
): Steps<SetupResult> {
  const attempt: Attempt = function* (some) {
    const result = plugin.setup(some, context)
    return 'next' in result ? yield* result : result
  }
  try {
    return yield* attempt(directives)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const hasListArgs = plugin.hasListArgs === true
    const further = yield* furtherProblems(directives, error, { attempt, hasListArgs })
    throw new ConfigError([...error.problems, ...further])
  }
}

type Attempt = (directives: DirectiveGroup) => Steps<SetupResult>

/** Finds the problems that remain without the ones found so far. */
function* furtherProblems(
  directives: DirectiveGroup,
  { problems }: ConfigError,
  { attempt, hasListArgs }: { readonly attempt: Attempt; readonly hasListArgs: boolean },
): Steps<Problem[]> {
  const found: Problem[] = []
  let last = problems
  let rest: readonly Directive[] = directives
  while (found.length < PROBLEMS_MAX) {
    const before = sizeOf(rest)
    for (const problem of last) rest = without(rest, problem, hasListArgs)
    const [first, ...others] = rest
    if (first === undefined || sizeOf(rest) === before) return found
    yield
    last = yield* problemsOf(attempt([first, ...others]))
    // A problem of a whole directive may be due to the removed part.
    const changed = rest.filter((directive) => !directives.includes(directive))
    const isOurs = last.some((one) => changed.some((directive) => isAt(directive, one)))
    if (last.length === 0 || isOurs) return found
    found.push(...last)
  }
  return found
}

function* problemsOf(attempt: Steps<SetupResult>): Steps<readonly Problem[]> {
  try {
    yield* attempt
    return []
  } catch (error) {
    // Other errors recur when the operator corrects the Corefile.
    return error instanceof ConfigError ? error.problems : []
  }
}

/** Removes the argument of a list, the line or else the whole directive at a position. */
function without(
  directives: readonly Directive[],
  at: Position,
  hasListArgs: boolean,
): readonly Directive[] {
  return directives.flatMap((directive): readonly Directive[] => {
    const isWord = directive.args.some((word) => isAt(word, at))
    if (isAt(directive, at) || (isWord && !hasListArgs)) return []
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
