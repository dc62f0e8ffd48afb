/**
 * The `root` plugin: sets the directory of relative paths in the block's other plugins.
 * @module
 */

import { checkArgs, checkNoBlock } from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'

/** Configures `root FOLDER`; the last one wins. The directory need not exist. */
export const rootPlugin: PluginEntry = {
  name: 'root',
  gateways: {
    at: 'worker',
    is: 'other',
    because: 'its folder is one in the paths of the variable FILES',
  },
  isApart: true,
  blockSettings: (directives) => ({ folder: directives.at(-1)?.args[0]?.text ?? '.' }),
  setup: (directives) => {
    for (const directive of directives) {
      const [folder] = checkArgs(directive, 1)
      if (folder === undefined) throw configError(directive, '"root" needs a folder')
      checkNoBlock(directive)
    }
    return {}
  },
}
