/**
 * The `multisocket` plugin, accepted without effect: it lets threads share a port, and kubedoh
 * answers in one process.
 * @module
 */

import { onlyArgs, parseCount } from '../../../corefile/arguments.ts'
import { problemAt } from '../../../corefile/problem.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'

const SOCKETS_MAX = 1024

/** Configures `multisocket [COUNT]`. */
export const multisocketPlugin: PluginEntry = {
  name: 'multisocket',
  isApart: true,
  setup: (directives) => {
    const [count] = onlyArgs(directives, 1)
    if (count !== undefined) parseCount(count, 1, SOCKETS_MAX)
    const message = '"multisocket" has no effect: one process answers on one socket'
    return { notices: [problemAt(directives[0], message)] }
  },
}
