/**
 * Reads a Corefile and the files that it imports.
 * @module
 */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import type { CorefileSource } from '../corefile/lexeme-stream.ts'
import { type Corefile, readCorefile } from '../corefile/parse-corefile.ts'
import { ConfigError } from '../corefile/problem.ts'
import { readTextFile, requireTextFile } from './read-files.ts'

/** A Corefile, and its text with that of all imported files, to detect changes. */
export type LoadedCorefile = Corefile & { readonly text: string }

/**
 * Reads a valid Corefile.
 * @throws {CommandError} when the file cannot be read
 * @throws {ConfigError} when it does not parse
 */
export function loadCorefile(path: string): LoadedCorefile {
  const loaded = tryCorefile(path)
  if (loaded.problems.length > 0) throw new ConfigError(loaded.problems)
  return loaded
}

/**
 * Reads a Corefile and returns its problems with it.
 * @param source imports and variables; files and the environment by default
 * @throws {CommandError} when the file cannot be read
 */
export function tryCorefile(path: string, source: CorefileSource = CONFIG_FILES): LoadedCorefile {
  const text = requireTextFile(path)
  const texts = [text]
  const readText = (file: string): string | undefined => {
    const imported = source.readText(file)
    if (imported !== undefined) texts.push(imported)
    return imported
  }
  const corefile = readCorefile(text, path, { ...source, readText })
  return { text: texts.join('\n'), ...corefile }
}

/** Imported files from the file system, and variables from the environment. */
export const CONFIG_FILES: CorefileSource = {
  readText: readTextFile,
  glob: listMatches,
  resolvePath: (from, path) => (isAbsolute(path) ? path : join(dirname(resolve(from)), path)),
  identify: identifyFile,
  environment: (name) => process.env[name],
}

/** Returns device and inode, which are the same by way of each link. */
function identifyFile(path: string): string {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return resolve(path)
  }
}

/**
 * Lists the files that a pattern matches, sorted as Go's `filepath.Glob` sorts them: folder by
 * folder. Folder names may have wildcards too.
 */
function listMatches(pattern: string): string[] {
  const folder = dirname(pattern)
  const folders = /[*?]/.test(folder) ? listMatches(folder) : [folder]
  const name = basename(pattern)
  if (!/[*?]/.test(name)) return folders.map((one) => join(one, name)).filter(existsSync)
  const expression = name
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  const matcher = new RegExp(`^${expression}$`, 'su')
  return folders.flatMap((one) => {
    const names = listNames(one).filter((entry) => matcher.test(entry))
    return names.sort().map((entry) => join(one, entry))
  })
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
