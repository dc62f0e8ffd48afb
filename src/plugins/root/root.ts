/**
 * The `root` plugin: the folder that relative paths of the block's other plugins begin at.
 * @module
 */

import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Setup } from '../../chain/setup.ts'
import { checkArgs, checkNoBlock } from '../../corefile/arguments.ts'
import { configError } from '../../corefile/problem.ts'

/** Configures `root FOLDER`; the last one counts. It need not be there. */
const setup: Setup = (directives) => {
  for (const directive of directives) {
    const [folder] = checkArgs(directive, 1)
    if (folder === undefined) throw configError(directive, '"root" needs a folder')
    checkNoBlock(directive)
  }
  return {}
}

/** The entry of `root`. */
export const rootPlugin: PluginEntry = {
  name: 'root',
  isApart: true,
  blockSettings: (directives) => ({ folder: directives.at(-1)?.args[0]?.text ?? '.' }),
  setup,
}
