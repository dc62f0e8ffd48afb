/**
 * The `shed` plugin, accepted without effect: it stops Go's runtime from crashing when too many
 * replies wait for a socket. kubedoh takes one query after the other; the system drops the excess.
 * @module
 */

import { onlyArgs } from '../../../corefile/arguments.ts'
import { configError, problemAt } from '../../../corefile/problem.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'

/** Configures `shed`. */
export const shedPlugin: PluginEntry = {
  name: 'shed',
  setup: (directives, { block }) => {
    onlyArgs(directives, 0)
    const other = block.keys.find(({ transport }) => transport !== 'dns')
    if (other !== undefined) {
      throw configError(
        directives[0],
        `"shed" is for plain DNS, and this block has ${other.transport}://`,
      )
    }
    const message = '"shed" has no effect: the system drops excess queries'
    return { notices: [problemAt(directives[0], message)] }
  },
}
