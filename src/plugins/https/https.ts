/**
 * The `https` plugin: limits of `https://` server blocks (github.com/coredns/coredns,
 * plugin/https/setup.go).
 * @module
 */

import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Setup } from '../../chain/setup.ts'
import {
  argTexts,
  checkArgs,
  onlyDirective,
  options,
  parseCount,
  unknownOption,
} from '../../corefile/arguments.ts'
import { configError } from '../../corefile/problem.ts'

/** Configures `https { max_connections COUNT }`; 0 means no limit. */
const setup: Setup = (directives) => {
  const directive = onlyDirective(directives)
  checkArgs(directive, 0)
  let connectionsMax: number | undefined
  for (const option of options(directive)) {
    if (option.name !== 'max_connections') {
      throw unknownOption('https', option, ['max_connections'])
    }
    if (connectionsMax !== undefined) {
      throw configError(option, '"max_connections" appears twice; remove one')
    }
    argTexts(option, 1)
    for (const word of option.args) connectionsMax = parseCount(word, 0, 0x7fffffff)
  }
  if (connectionsMax === undefined) return {}
  return { features: [{ kind: 'https', connectionsMax: connectionsMax || Infinity }] }
}

/** The entry of `https`. */
export const httpsPlugin: PluginEntry = {
  name: 'https',
  isApart: true,
  setup,
}
