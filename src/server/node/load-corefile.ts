/**
 * Reads a Corefile and the files that it imports.
 * @module
 */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import type { CorefileSource } from '../../corefile/lexeme-stream.ts'
import { type Corefile, corefileSteps } from '../../corefile/parse-corefile.ts'
import { ConfigError } from '../../corefile/problem.ts'
import { finish, inSlices, type Steps, type Turns } from '../../dns/bytes/steps.ts'
import { readTextFile, requireTextFile } from './read-files.ts'

/** A Corefile, and its text with that of all imported files, to detect changes. */
export type LoadedCorefile = Corefile & { readonly text: string }

/** Functions that repeat what was read for a Corefile, and return whether it is the same. */
const CHECKS = new WeakMap<LoadedCorefile, readonly (() => boolean)[]>()

/** Returns whether the files of a Corefile, read again, have the same text. */
export function isCurrent(corefile: LoadedCorefile | undefined): boolean {
  if (corefile === undefined) return false
  return CHECKS.get(corefile)?.every((check) => check()) ?? false
}

/**
 * Reads a valid Corefile at once.
 * @throws {CommandError} when the file cannot be read
 * @throws {ConfigError} when it does not parse
 */
export function loadCorefile(path: string): LoadedCorefile {
  return requireValid(tryCorefile(path))
}

/** Reads a valid Corefile in slices, for a thread that answers queries. Throws as the above. */
export async function loadInSlices(path: string, turns: Turns): Promise<LoadedCorefile> {
  return requireValid(await inSlices(loadSteps(path, CONFIG_FILES), turns))
}

/**
 * Reads a Corefile and returns its problems with it.
 * @param source imports and variables; files and the environment by default
 * @throws {CommandError} when the file cannot be read
 */
export function tryCorefile(path: string, source: CorefileSource = CONFIG_FILES): LoadedCorefile {
  return finish(loadSteps(path, source))
}

function requireValid(loaded: LoadedCorefile): LoadedCorefile {
  if (loaded.problems.length > 0) throw new ConfigError(loaded.problems)
  return loaded
}

function* loadSteps(path: string, source: CorefileSource): Steps<LoadedCorefile> {
  const text = requireTextFile(path)
  const texts = [text]
  const checks = [() => source.readText(path) === text]
  const recorder: CorefileSource = {
    ...source,
    readText(file) {
      const imported = source.readText(file)
      if (imported !== undefined) texts.push(imported)
      checks.push(() => source.readText(file) === imported)
      return imported
    },
    glob(pattern) {
      const files = source.glob(pattern)
      checks.push(() => source.glob(pattern).join('\n') === files.join('\n'))
      return files
    },
  }
  const corefile = yield* corefileSteps(text, path, recorder)
  const loaded = { text: texts.join('\n'), ...corefile }
  CHECKS.set(loaded, checks)
  return loaded
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
