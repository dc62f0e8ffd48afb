/**
 * The `root` plugin: the folder that relative paths of the block's other plugins begin at.
 * @module
 */

import type { Setup } from '../../chain/setup.ts'
import { checkArgs, checkNoBlock } from '../../corefile/arguments.ts'
import { configError } from '../../corefile/problem.ts'
import type { Directive } from '../../corefile/server-block.ts'

/** Configures `root FOLDER`; the last one counts. It need not be there. */
export const setupRoot: Setup = (directives) => {
  for (const directive of directives) {
    const [folder] = checkArgs(directive, 1)
    if (folder === undefined) throw configError(directive, '"root" needs a folder')
    checkNoBlock(directive)
  }
  return {}
}

/** Makes what leads from a path in a block with these directives to the path that is meant. */
export function pathsBelow(directives: readonly Directive[]): (path: string) => string {
  const folder = directives.findLast(({ name }) => name === 'root')?.args[0]?.text
  return (path) => (folder === undefined || path.startsWith('/') ? path : `${folder}/${path}`)
}
