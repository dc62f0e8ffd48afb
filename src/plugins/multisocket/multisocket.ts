/**
 * The `multisocket` plugin, accepted without effect: it lets threads share a port, and kubedoh
 * answers in one process.
 * @module
 */

import type { PluginEntry } from '../../chain/plugin-entry.ts'
import { checkArgs, checkNoBlock, onlyDirective, parseCount } from '../../corefile/arguments.ts'
import { problemAt } from '../../corefile/problem.ts'

const SOCKETS_MAX = 1024

/** Configures `multisocket [COUNT]`. */
export const multisocketPlugin: PluginEntry = {
  name: 'multisocket',
  isApart: true,
  setup: (directives) => {
    const directive = onlyDirective(directives)
    const [count] = checkArgs(directive, 1)
    checkNoBlock(directive)
    if (count !== undefined) parseCount(count, 1, SOCKETS_MAX)
    const message = '"multisocket" has no effect: one process answers on one socket'
    return { notices: [problemAt(directive, message)] }
  },
}
