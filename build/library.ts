/**
 * The types of what the package offers as a library (`src/library`).
 * @module
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const PROJECT = join(import.meta.dirname, 'tsconfig.library.json')
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')
const IMPORT = /(?:from|import\() ?['"](\.[^'"]+)\.ts['"]/g

/** The modules of `src/library` that are bundled for Node. */
export const NODE_LIBRARY = ['corefile', 'dns', 'gateway', 'snapshot'] as const
/** The modules of `src/library` that package.json exports. */
export const LIBRARY: readonly string[] = [...NODE_LIBRARY, 'edge']

/**
 * Compiles the declarations of {@link LIBRARY} and of all that they mention.
 * @returns texts by path, such as `library/dns.d.ts`
 * @throws {Error} when the compiler finds an error
 */
export function libraryTypes(): ReadonlyMap<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-types-'))
  try {
    const args = [TSC, '-p', PROJECT, '--outDir', folder]
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(`tsc -p ${PROJECT}:\n${stdout}`)
    return reachable(
      folder,
      LIBRARY.map((name) => `library/${name}.d.ts`),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Follows imports: the compiler writes a declaration for each module of the program. */
function reachable(folder: string, entries: readonly string[]): Map<string, string> {
  const texts = new Map<string, string>()
  const waiting = [...entries]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (texts.has(path)) continue
    const text = readFileSync(join(folder, path), 'utf8')
    // A declaration is found by the name of the JavaScript that it describes.
    texts.set(
      path,
      text.replace(IMPORT, (found) => found.replace(/\.ts(?=['"]$)/, '.js')),
    )
    for (const [, to] of text.matchAll(IMPORT)) {
      waiting.push(relative(folder, join(folder, dirname(path), `${to}.d.ts`)))
    }
  }
  return texts
}
