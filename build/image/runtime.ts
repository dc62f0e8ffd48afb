/**
 * The JavaScript runtime of an image, from an npm package of the runtime's own: Node at the version
 * that package-lock.json pins, without symbols, or Bun at that of `bun-lock.json`, which has the
 * same form: as a dependency, everybody would install it.
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../cache-folder.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Path of the file that pins Bun. */
export const BUN_LOCK: string = join(import.meta.dirname, 'bun-lock.json')
/**
 * Tools that remove symbols, in the order in which they are tried: the first reads all
 * processors'.
 */
const STRIPS = ['llvm-strip', 'strip']

/** A runtime's binary and licence. */
export type Runtime = {
  /** Name of its file. */
  readonly name: 'node' | 'bun'
  readonly binary: Buffer
  readonly licence: Buffer
  /** The licence as an SPDX expression. */
  readonly spdx: string
  readonly version: string
  /** Whether the binary has symbols that a tool could have removed. */
  readonly hasSymbols: boolean
}

/** A package of npm: its name, its version, and its checksum as package-lock.json has it. */
type NpmPackage = Readonly<Record<'name' | 'version' | 'integrity', string>>

/**
 * Returns Node for `amd64` or `arm64`: from `node_modules`, or for another processor from npm.
 * @param scratch a folder that is removed after the build
 * @throws {Error} when npm cannot download it, or its checksum is not the pinned one
 */
export function prepareNode(architecture: string, scratch: string): Runtime {
  const name = `node-linux-${architecture === 'amd64' ? 'x64' : architecture}`
  const installed = join(ROOT, 'node_modules', name)
  const pinned = pinnedIn(join(ROOT, 'package-lock.json'), name)
  const parts = ['bin', 'LICENSE', 'package.json']
  const folder = existsSync(installed) ? installed : unpackFromNpm(pinned, parts, scratch)
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const stripped = join(scratch, `${name}-stripped`)
  const original = join(folder, 'bin/node')
  const works = (tool: string) => spawnSync(tool, ['-o', stripped, original]).status === 0
  const hasSymbols = !STRIPS.some(works)
  const binary = readFileSync(hasSymbols ? original : stripped)
  const licence = readFileSync(join(folder, 'LICENSE'))
  return { name: 'node', binary, licence, spdx: 'MIT', version, hasSymbols }
}

/**
 * Does as {@link prepareNode} does, for Bun, whose package has no licence, and its file no
 * symbols.
 */
export function prepareBun(architecture: string, scratch: string): Runtime {
  const name = `@oven/bun-linux-${architecture === 'amd64' ? 'x64' : 'aarch64'}`
  const pinned = pinnedIn(BUN_LOCK, name)
  const binary = readFileSync(join(unpackFromNpm(pinned, ['bin'], scratch), 'bin/bun'))
  const licence = readFileSync(join(import.meta.dirname, 'bun-licence.txt'))
  const spdx = 'MIT AND LGPL-2.0-only AND LGPL-2.1-only'
  return { name: 'bun', binary, licence, spdx, version: pinned.version, hasSymbols: false }
}

function pinnedIn(lock: string, name: string): NpmPackage {
  const { packages } = JSON.parse(readFileSync(lock, 'utf8'))
  return { ...packages[`node_modules/${name}`], name }
}

/** Unpacks some files of a package. Returns the folder that has them. */
function unpackFromNpm(
  { name, version, integrity }: NpmPackage,
  parts: readonly string[],
  scratch: string,
): string {
  const cache = cacheFolder('image')
  mkdirSync(cache, { recursive: true })
  const file = join(cache, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
  if (!existsSync(file)) {
    const args = ['pack', `${name}@${version}`, '--pack-destination', cache, '--silent']
    execFileSync('npm', args, { cwd: scratch, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  const sum = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  if (sum !== integrity) {
    rmSync(file)
    throw new Error(`${name} ${version}: checksum is not the pinned one`)
  }
  const members = parts.map((part) => `package/${part}`)
  execFileSync('tar', ['-xzf', file, '-C', scratch, ...members])
  return join(scratch, 'package')
}
