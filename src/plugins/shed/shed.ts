/**
 * The `shed` plugin, which has nothing to do here: it keeps Go's runtime from ending the process
 * when more replies wait for a socket than it can count. Here, queries are taken one after the
 * other, and what is too much stays with the system, which drops it.
 * @module
 */

import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Setup } from '../../chain/setup.ts'
import { checkArgs, checkNoBlock, onlyDirective } from '../../corefile/arguments.ts'
import { configError, problemAt } from '../../corefile/problem.ts'

/** Configures `shed`. */
const setup: Setup = (directives, { block }) => {
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
  const message = '"shed" changes nothing: the system drops what is too much'
  return { notices: [problemAt(directive, message)] }
}

/** The entry of `shed`. */
export const shedPlugin: PluginEntry = {
  name: 'shed',
  setup,
}
