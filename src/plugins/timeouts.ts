/**
 * The `timeouts` plugin: how long clients' connections may take, and how many queries each may
 * bring. Of several server blocks at one port, the last that says something of a bound counts.
 * @module
 */
import {
  argTexts,
  checkArgs,
  type Option,
  options,
  parseCount,
  parseDuration,
  unknownOption,
} from '../corefile/arguments.ts'
import { configError } from '../corefile/problem.ts'
import type { Directive, Word } from '../corefile/server-block.ts'
import type { ConnectionBounds, Setup } from './plugin.ts'

const TIMEOUT_MS_MIN = 1000
const TIMEOUT_MS_MAX = 24 * 3_600_000
const QUERIES_MAX = Number.MAX_SAFE_INTEGER

const NAMES = { read: 'readMs', write: 'writeMs', idle: 'idleMs' } as const

/** Configures `timeouts { read|write|idle DURATION maxtcpqueries COUNT|-1 }`. */
export const setupTimeouts: Setup = (directives) => ({
  features: directives.map((directive) => ({
    kind: 'timeouts',
    bounds: parseBounds(directive),
  })),
})

function parseBounds(directive: Directive): ConnectionBounds {
  checkArgs(directive, 0)
  const lines = options(directive)
  if (lines.length === 0) {
    throw configError(directive, '"timeouts" needs a line such as "idle 30s" in braces')
  }
  return Object.assign({}, ...lines.map(parseBound))
}

function parseBound(line: Option): ConnectionBounds {
  argTexts(line, 1)
  const [word = { ...line, text: '' }] = line.args
  if (line.name === 'maxtcpqueries') {
    return { queriesMax: word.text === '-1' ? Infinity : parseCount(word, 1, QUERIES_MAX) }
  }
  const name = Object.entries(NAMES).find(([key]) => key === line.name)?.[1]
  if (name === undefined) {
    throw unknownOption('timeouts', line, [...Object.keys(NAMES), 'maxtcpqueries'])
  }
  return { [name]: parseTimeout(word) }
}

/** A number alone is in seconds. */
function parseTimeout(word: Word): number {
  const isNumber = /^\d+$/.test(word.text)
  const timeoutMs = isNumber ? 1000 * Number(word.text) : parseDuration(word)
  if (timeoutMs >= TIMEOUT_MS_MIN && timeoutMs <= TIMEOUT_MS_MAX) return timeoutMs
  throw configError(word, `"${word.text}" is not between 1s and 24h`)
}
