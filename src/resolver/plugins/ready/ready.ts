/**
 * The `ready` plugin: reports over HTTP whether the plugins of its server block can answer.
 * @module
 */

import {
  checkArgs,
  listenAddressOf,
  type OptionReaders,
  onlyDirective,
  onlyWord,
  parseChoice,
  readOptions,
} from '../../../corefile/arguments.ts'
import type { ReadyMonitor } from '../../contract/feature.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'

const ADDRESS_DEFAULT = ':8181'

const READERS: OptionReaders<{ monitor: ReadyMonitor }> = {
  monitor: (option) => ({
    monitor: parseChoice(onlyWord(option), ['until-ready', 'continuously']),
  }),
}

/**
 * Configures `ready [ADDRESS] { monitor until-ready|continuously }` (default `:8181` and
 * `until-ready`: a plugin that was ready once is not checked again).
 */
export const readyPlugin: PluginEntry = {
  name: 'ready',
  gateways: {
    at: 'gateway',
    is: 'ignored',
    because: 'it serves /readyz itself',
  },
  isApart: true,
  setup: (directives) => {
    const directive = onlyDirective(directives)
    const [word] = checkArgs(directive, 1)
    const address = word === undefined ? ADDRESS_DEFAULT : listenAddressOf(word)
    const { monitor } = readOptions(directive, READERS, { monitor: 'until-ready' })
    return { features: [{ kind: 'ready', address, monitor }] }
  },
}
