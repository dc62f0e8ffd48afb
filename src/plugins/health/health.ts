/**
 * The `health` plugin: reports over HTTP that the process is alive.
 * @module
 */

import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Setup } from '../../chain/setup.ts'
import {
  argTexts,
  checkArgs,
  options,
  parseDuration,
  parseListenAddress,
  unknownOption,
} from '../../corefile/arguments.ts'

/** Configures `health [ADDRESS] { lameduck DURATION }` (default `:8080`); later values win. */
const setup: Setup = (directives) => {
  let address = ':8080'
  let lameduckMs = 0
  for (const directive of directives) {
    for (const word of checkArgs(directive, 1)) address = parseListenAddress(word)
    for (const option of options(directive)) {
      if (option.name !== 'lameduck') throw unknownOption('health', option, ['lameduck'])
      argTexts(option, 1)
      for (const word of option.args) lameduckMs = parseDuration(word)
    }
  }
  return { features: [{ kind: 'health', address, lameduckMs }] }
}

/** The entry of `health`. */
export const healthPlugin: PluginEntry = {
  name: 'health',
  isApart: true,
  options: ['lameduck'],
  setup,
}
