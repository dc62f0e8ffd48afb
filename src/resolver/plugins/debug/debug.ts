/**
 * The `debug` plugin, which only enables the `debug` level of `errors`: an exception fails one
 * query, and the server always logs it with its stack.
 * @module
 */

import { checkArgs, checkNoBlock } from '../../../corefile/arguments.ts'
import { problemAt } from '../../../corefile/problem.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'

/** Configures `debug`. */
export const debugPlugin: PluginEntry = {
  name: 'debug',
  isApart: true,
  setup: (directives) => {
    for (const directive of directives) {
      checkArgs(directive, 0)
      checkNoBlock(directive)
    }
    const message =
      '"debug" only enables the debug level of "errors": failures are always logged in full'
    return { notices: [problemAt(directives[0], message)] }
  },
}
