/**
 * The `shed` plugin, accepted without effect: it stops Go's runtime from crashing when too many
 * replies wait for a socket. kubedoh takes one query after the other; the system drops the excess.
 * @module
 */

import type { PluginEntry } from '../../chain/plugin-entry.ts'
import { checkArgs, checkNoBlock, onlyDirective } from '../../corefile/arguments.ts'
import { configError, problemAt } from '../../corefile/problem.ts'

/** Configures `shed`. */
export const shedPlugin: PluginEntry = {
  name: 'shed',
  setup: (directives, { block }) => {
    const directive = onlyDirective(directives)
    checkArgs(directive, 0)
    checkNoBlock(directive)
    const other = block.keys.find(({ transport }) => transport !== 'dns')
    if (other !== undefined) {
      throw configError(
        directive,
        `"shed" is for plain DNS, and this block has ${other.transport}://`,
      )
    }
    const message = '"shed" has no effect: the system drops excess queries'
    return { notices: [problemAt(directive, message)] }
  },
}
