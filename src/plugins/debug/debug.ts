/**
 * The `debug` plugin, which has nothing to do here: whatever fails while a query is answered costs
 * that query alone and is logged with its stack, and there are no messages beyond those that are
 * always logged, except what `errors` logs at the level `debug`.
 * @module
 */

import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Setup } from '../../chain/setup.ts'
import { checkArgs, checkNoBlock } from '../../corefile/arguments.ts'
import { problemAt } from '../../corefile/problem.ts'

/** Configures `debug`. */
const setup: Setup = (directives) => {
  for (const directive of directives) {
    checkArgs(directive, 0)
    checkNoBlock(directive)
  }
  const message =
    '"debug" only lets "errors" log its level debug: failures are logged in full without it'
  return { notices: [problemAt(directives[0], message)] }
}

/** The entry of `debug`. */
export const debugPlugin: PluginEntry = {
  name: 'debug',
  isApart: true,
  setup,
}
