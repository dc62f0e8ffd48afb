/**
 * The `timeouts` plugin: limits the times of clients' connections and the queries on each. If
 * server blocks share a port, the last value of each option wins.
 * @module
 */

import {
  checkArgs,
  type OptionReaders,
  onlyWord,
  parseCount,
  parseDuration,
  readOptions,
} from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import type { ConnectionBounds } from '../../contract/feature.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'

const TIMEOUT_MS_MIN = 1000
const TIMEOUT_MS_MAX = 24 * 3_600_000
const QUERIES_MAX = Number.MAX_SAFE_INTEGER

const READERS: OptionReaders<ConnectionBounds> = {
  read: (option) => ({ readMs: parseTimeout(onlyWord(option)) }),
  write: (option) => ({ writeMs: parseTimeout(onlyWord(option)) }),
  idle: (option) => ({ idleMs: parseTimeout(onlyWord(option)) }),
  maxtcpqueries: (option) => {
    const word = onlyWord(option)
    return { queriesMax: word.text === '-1' ? Infinity : parseCount(word, 1, QUERIES_MAX) }
  },
}

/** Configures `timeouts { read|write|idle DURATION maxtcpqueries COUNT|-1 }`. */
export const timeoutsPlugin: PluginEntry = {
  name: 'timeouts',
  gateways: {
    at: 'gateway',
    is: 'ignored',
    because: 'the bounds of its own listener hold',
  },
  isApart: true,
  setup: (directives) => ({
    features: directives.map((directive) => ({
      kind: 'timeouts',
      bounds: parseBounds(directive),
    })),
  }),
}

function parseBounds(directive: Directive): ConnectionBounds {
  checkArgs(directive, 0)
  if (directive.lines.length === 0) {
    throw configError(directive, '"timeouts" needs a line such as "idle 30s" in braces')
  }
  return readOptions(directive, READERS, {})
}

/** Parses a duration; a number without a unit is in seconds. */
function parseTimeout(word: Word): number {
  const isNumber = /^\d+$/.test(word.text)
  const timeoutMs = isNumber ? 1000 * Number(word.text) : parseDuration(word)
  if (timeoutMs >= TIMEOUT_MS_MIN && timeoutMs <= TIMEOUT_MS_MAX) return timeoutMs
  throw configError(word, `"${word.text}" is not between 1s and 24h`)
}
