/**
 * The `health` plugin: reports over HTTP that the process is alive.
 * @module
 */

import {
  checkArgs,
  listenAddressOf,
  type OptionReaders,
  onlyWord,
  parseDuration,
  readOptions,
} from '../../../corefile/arguments.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'

const READERS: OptionReaders<{ lameduckMs: number }> = {
  lameduck: (option) => ({ lameduckMs: parseDuration(onlyWord(option)) }),
}

/** Configures `health [ADDRESS] { lameduck DURATION }` (default `:8080`); later values win. */
export const healthPlugin: PluginEntry = {
  name: 'health',
  gateways: {
    at: 'gateway',
    is: 'ignored',
    because: 'it serves /healthz itself',
  },
  isApart: true,
  options: ['lameduck'],
  setup: (directives) => {
    let address = ':8080'
    const draft = { lameduckMs: 0 }
    for (const directive of directives) {
      for (const word of checkArgs(directive, 1)) address = listenAddressOf(word)
      readOptions(directive, READERS, draft)
    }
    return { features: [{ kind: 'health', address, ...draft }] }
  },
}
