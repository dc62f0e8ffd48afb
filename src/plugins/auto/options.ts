/**
 * Options of the `auto` plugin.
 * @module
 */

import {
  argTexts,
  firstWord,
  type OptionReaders,
  parseDuration,
  readOptions,
  zonesOf,
} from '../../corefile/arguments.ts'
import { configError, type Problem } from '../../corefile/problem.ts'
import type { Directive, Word } from '../../corefile/server-block.ts'
import { parseName, ROOT } from '../../dns/name.ts'
import { compilePattern, type Match, type Pattern } from '../../pattern/pattern.ts'
import { parsePattern } from '../rewrite/name-match.ts'

/** The options of all `auto` directives of a block; a later directive overrides an earlier one. */
export type AutoOptions = {
  /** Names outside of these zones go to the next plugin. */
  zones: readonly Uint8Array[]
  /** The path in the Corefile; '' without one. */
  folder: string
  origin: OriginRule
  /** Time between checks of the folder and its files; 0 for no checks. */
  reloadMs: number
  readonly notices: Problem[]
}

const RELOAD_MS_DEFAULT = 60_000

/** Reads all `auto [ZONE…] { directory FOLDER [PATTERN TEMPLATE]  reload DURATION }`. */
export function parseAuto(
  directives: readonly Directive[],
  blockZones: readonly Uint8Array[],
): AutoOptions {
  const found: AutoOptions = {
    zones: blockZones,
    folder: '',
    origin: { pattern: compilePattern('db\\.(.*)'), template: '{1}' },
    reloadMs: RELOAD_MS_DEFAULT,
    notices: [],
  }
  for (const directive of directives) {
    found.zones = zonesOf(directive.args, blockZones)
    readOptions(directive, READERS, found)
  }
  return found
}

const READERS: OptionReaders<AutoOptions> = {
  directory: (option, { origin }) => {
    const [folder = '', pattern] = argTexts(option, 1, 3)
    const [, word, template] = option.args
    if (word === undefined) return { folder, origin }
    if (template === undefined) {
      throw configError(word, `"${pattern}" needs a template after it, such as {1}`)
    }
    return { folder, origin: { pattern: readPattern(word), template: template.text } }
  },
  reload: (option, { notices }) => ({ reloadMs: parseDuration(firstWord(option, notices)) }),
  // CoreDNS before 1.5 had this option; later versions ignore it.
  upstream: null,
}

function readPattern(word: Word): Pattern {
  const pattern = parsePattern(word)
  if (pattern.groupNames.length > 1) return pattern
  throw configError(word, `"${word.text}" needs a group in parentheses, which yields the zone`)
}

/** Maps names of files to zones. */
type OriginRule = { readonly pattern: Pattern; readonly template: string }

/**
 * Returns the zone of a file by its name, in lower case; `undefined` if the name does not match or
 * yields no valid domain name. An empty result is the root, as in CoreDNS.
 */
export function originOfFile(
  { pattern, template }: OriginRule,
  file: string,
): Uint8Array | undefined {
  const match = pattern.exec(file)
  if (match === undefined) return undefined
  const text = expand(template, match, pattern.groupNames).toLowerCase()
  return text === '' ? ROOT : parseName(text)
}

/** Expands a template; unknown groups, and groups without a match, are empty. */
function expand(template: string, { groups }: Match, names: readonly string[]): string {
  return template.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const index = /^\d+$/.test(name) ? Number(name) : names.indexOf(name)
    return groups[index] ?? ''
  })
}
