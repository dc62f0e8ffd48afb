/**
 * The `https` plugin: limits of `https://` server blocks (github.com/coredns/coredns,
 * plugin/https/setup.go).
 * @module
 */

import {
  checkArgs,
  type Option,
  type OptionReaders,
  onlyDirective,
  onlyWord,
  parseCount,
  readOptions,
} from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'

const READERS: OptionReaders<{ connectionsMax?: number }> = {
  max_connections: (option, { connectionsMax }) => ({
    connectionsMax: readLimit(option, connectionsMax),
  }),
}

/** Configures `https { max_connections COUNT }`; 0 means no limit. */
export const httpsPlugin: PluginEntry = {
  name: 'https',
  counts: 'first',
  gateways: {
    at: 'gateway',
    is: 'ignored',
    because: 'the bounds of its own listener hold',
  },
  isApart: true,
  setup: (directives) => {
    const directive = onlyDirective(directives)
    checkArgs(directive, 0)
    const { connectionsMax } = readOptions(directive, READERS, {})
    if (connectionsMax === undefined) return {}
    return { features: [{ kind: 'https', connectionsMax }] }
  },
}

/**
 * Reads a limit of a server, of which 0 means none: Infinity.
 * @param before the value of the same option on a line before
 * @throws {ConfigError} for other words, and at a second line
 */
export function readLimit(option: Option, before: number | undefined): number {
  if (before !== undefined) throw configError(option, `"${option.name}" appears twice; remove one`)
  return parseCount(onlyWord(option), 0, 0x7fffffff) || Infinity
}
