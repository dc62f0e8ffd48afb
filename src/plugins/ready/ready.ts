/**
 * The `ready` plugin: reports over HTTP whether the plugins of its server block can answer.
 * @module
 */

import type { ReadyMonitor } from '../../chain/feature.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Setup } from '../../chain/setup.ts'
import {
  checkArgs,
  type Option,
  onlyDirective,
  onlyWord,
  options,
  parseListenAddress,
  unknownOption,
} from '../../corefile/arguments.ts'
import { configError } from '../../corefile/problem.ts'

const ADDRESS_DEFAULT = ':8181'

/**
 * Configures `ready [ADDRESS] { monitor until-ready|continuously }` (default `:8181` and
 * `until-ready`: a plugin that was ready once is not checked again).
 */
const setup: Setup = (directives) => {
  const directive = onlyDirective(directives)
  const [word] = checkArgs(directive, 1)
  const address = word === undefined ? ADDRESS_DEFAULT : parseListenAddress(word)
  const monitor = options(directive).map(parseMonitor).at(-1) ?? 'until-ready'
  return { features: [{ kind: 'ready', address, monitor }] }
}

/** The entry of `ready`. */
export const readyPlugin: PluginEntry = {
  name: 'ready',
  isApart: true,
  setup,
}

function parseMonitor(option: Option): ReadyMonitor {
  if (option.name !== 'monitor') throw unknownOption('ready', option, ['monitor'])
  const word = onlyWord(option)
  const { text } = word
  if (text === 'until-ready' || text === 'continuously') return text
  throw configError(word, `"${text}" is neither "until-ready" nor "continuously"`)
}
