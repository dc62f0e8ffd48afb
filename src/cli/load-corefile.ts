/**
 * Reads a Corefile and what it imports from the file system.
 * @module
 */
import { readdirSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { type CorefileSource, parseCorefile } from '../corefile/parse-corefile.ts'
import type { ServerBlock } from '../corefile/server-block.ts'
import { readTextFile } from '../shim/node-host.ts'
import { CommandError, whyUnreadable } from './output.ts'

/** A Corefile with the place it came from. */
export type LoadedCorefile = {
  readonly text: string
  readonly blocks: readonly ServerBlock[]
}

/**
 * @throws {CommandError} when the file cannot be read
 * @throws {ConfigError} when it does not parse
 */
export function loadCorefile(path: string): LoadedCorefile {
  const text = readTextFile(path)
  if (text === undefined) throw new CommandError(`Cannot read ${path}: ${whyUnreadable(path)}`)
  return { text, blocks: parseCorefile(text, path, FILES) }
}

const FILES: CorefileSource = {
  readText: readTextFile,
  glob: listMatches,
  resolvePath: (from, path) => (isAbsolute(path) ? path : join(dirname(resolve(from)), path)),
  environment: (name) => process.env[name],
}

/** Lists the files in a pattern's folder whose names match its last part. */
function listMatches(pattern: string): string[] {
  const folder = dirname(pattern)
  const expression = basename(pattern)
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]')
  const matcher = new RegExp(`^${expression}$`)
  try {
    return readdirSync(folder)
      .filter((name) => matcher.test(name))
      .sort()
      .map((name) => join(folder, name))
  } catch {
    return []
  }
}
