/**
 * Files in the variables of a gateway without a disk: a Worker's Corefile names them as it would on
 * Node.
 * @module
 */

import type { CorefileSource } from '../../corefile/lexeme-stream.ts'
import { isRecord, parseJson } from '../../dns/bytes/unknown.ts'
import type { Host } from '../../resolver/contract/host.ts'
import { GatewayConfigError } from './config.ts'

/** Variables whose names begin so have files: `FILES`, `FILES_ZONES`. */
const PREFIX = 'FILES'
/** Characters in all files together: each isolate keeps them in memory. */
const CHARACTERS_MAX = 16 * 1024 * 1024

/** Texts of files by path. Relative paths start at the root, and `.` and `..` are resolved. */
export type VariableFiles = Pick<Host, 'readText' | 'readFile' | 'listFiles' | 'fileState'> & {
  /** Reads imported files; variables of the gateway stand in for those of the environment. */
  readonly source: CorefileSource
}

/**
 * Reads the files in the variables. The value of each is an object of texts by path, or its JSON.
 * @throws {GatewayConfigError} for another value, or for too much text
 */
export function readVariableFiles(variables: object): VariableFiles {
  const texts = new Map<string, string>()
  let characters = 0
  for (const [name, value] of Object.entries(variables)) {
    if (!name.startsWith(PREFIX)) continue
    for (const [path, text] of Object.entries(parseFiles(name, value))) {
      texts.set(normalPath(path), text)
      characters += text.length
    }
  }
  if (characters > CHARACTERS_MAX) {
    throw new GatewayConfigError(`${PREFIX} has ${characters} characters, over ${CHARACTERS_MAX}`)
  }
  const values = new Map(Object.entries(variables))
  const readText = (path: string): string | undefined => texts.get(normalPath(path))
  return {
    readText,
    listFiles: async (folder) => listBelow(folder, texts),
    readFile: async (path) => {
      const text = readText(path)
      if (text === undefined) throw new Error(`the variable ${PREFIX} has no such file`)
      return new TextEncoder().encode(text)
    },
    // The files of a deployment do not change.
    fileState: (path) => {
      const text = readText(path)
      return text === undefined ? undefined : { modifiedMs: 0, bytes: text.length }
    },
    source: {
      readText,
      glob: (pattern) => matches(pattern, texts),
      resolvePath: (from, path) => (path.startsWith('/') ? path : `${folderOf(from)}/${path}`),
      identify: normalPath,
      environment: (name) => {
        const value = values.get(name)
        return typeof value === 'string' ? value : undefined
      },
    },
  }
}

function parseFiles(name: string, value: unknown): Readonly<Record<string, string>> {
  const files = typeof value === 'string' ? parseJson(value.trim() || '{}') : value
  if (!isRecord(files) || !isTexts(files)) {
    throw new GatewayConfigError(`${name} is not a JSON object with the text of each file by path`)
  }
  return files
}

function isTexts(files: Readonly<Record<string, unknown>>): files is Record<string, string> {
  return Object.values(files).every((text) => typeof text === 'string')
}

/** Removes what does not change a path: `/zones/./db` and `zones/x/../db` become `zones/db`. */
function normalPath(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

function listBelow(folder: string, texts: ReadonlyMap<string, string>): string[] | undefined {
  const start = normalPath(folder)
  const prefix = start === '' ? '' : `${start}/`
  const below = [...texts.keys()].filter((path) => path.startsWith(prefix)).sort()
  return below.length === 0
    ? undefined
    : below.map((path) => `${folder}/${path.slice(prefix.length)}`)
}

/** Lists the paths that a pattern with `*` and `?` matches, within one folder each. */
function matches(pattern: string, texts: ReadonlyMap<string, string>): string[] {
  const expression = normalPath(pattern)
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]')
  const matcher = new RegExp(`^${expression}$`, 'su')
  return [...texts.keys()].filter((path) => matcher.test(path)).sort()
}
