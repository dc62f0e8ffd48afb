/**
 * Builds of kubedoh to run beside this checkout's: one of an earlier commit, and some of this
 * checkout that read and write other versions of snapshots.
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { cacheFolder } from '../../build/cache-folder.ts'

/** Stands for the last release until one exists: the first commit with these dependencies. */
export const EARLIER: string = 'b74b0cfa6f88d28c0c9b94116187f421171c1b91'
const ROOT = join(import.meta.dirname, '../..')
const VERSIONS_FILE = 'src/snapshot/format/versions.ts'

/** A build: modules that `bin/kubedoh` and workerd run. */
export type Build = {
  readonly name: string
  /** For `KUBEDOH_ENTRY`. */
  readonly entry: string
  readonly worker: string
}

/** This checkout: its sources, or the bundle that `KUBEDOH_ENTRY` names. */
export const CURRENT: Build = {
  name: 'current',
  entry: process.env.KUBEDOH_ENTRY ?? join(ROOT, 'src/cli/run.ts'),
  worker: join(ROOT, 'worker/index.ts'),
}

/**
 * Builds or finds the package of the earlier commit.
 * @returns the reason if this clone lacks the commit
 */
export function prepareEarlier(): Build | string {
  const folder = join(cacheFolder('versions'), EARLIER)
  const build = {
    name: 'earlier',
    entry: join(folder, 'run.js'),
    worker: join(folder, 'worker.js'),
  }
  const missing = buildEarlier(EARLIER, folder, (tree) => {
    execFileSync(process.execPath, ['build/package.ts'], { cwd: tree })
    return join(tree, 'dist')
  })
  return missing ?? build
}

/**
 * Has a commit's sources built, with the packages that they need, unless the folder exists.
 * @param make builds in the folder of the sources, and returns what becomes the folder
 * @returns the reason if this clone lacks the commit
 */
export function buildEarlier(
  commit: string,
  folder: string,
  make: (tree: string) => string,
): string | undefined {
  if (existsSync(folder)) return undefined
  if (spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT }).status !== 0) {
    return `the commit ${commit} is missing in this clone: git fetch --unshallow`
  }
  mkdirSync(dirname(folder), { recursive: true })
  const tree = mkdtempSync(`${folder}-`)
  const sources = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 2 ** 28 })
  execFileSync('tar', ['-x', '-C', tree], { input: sources })
  symlinkSync(modulesFor(tree), join(tree, 'node_modules'))
  renameSync(make(tree), folder)
  rmSync(tree, { recursive: true })
  return undefined
}

/**
 * Returns this checkout's `node_modules`, or those that the tree's lock file names if it
 * differs.
 */
function modulesFor(tree: string): string {
  const lock = readFileSync(join(tree, 'package-lock.json'))
  if (lock.equals(readFileSync(join(ROOT, 'package-lock.json')))) return join(ROOT, 'node_modules')
  const hash = createHash('sha256').update(lock).digest('hex').slice(0, 16)
  const folder = join(cacheFolder('versions'), `modules-${hash}`)
  if (existsSync(folder)) return join(folder, 'node_modules')
  mkdirSync(dirname(folder), { recursive: true })
  const scratch = mkdtempSync(`${folder}-`)
  for (const name of ['package-lock.json', '.npmrc']) cpSync(join(tree, name), join(scratch, name))
  // Scripts of the package itself need its sources.
  const { scripts: _, ...rest } = JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8'))
  writeFileSync(join(scratch, 'package.json'), JSON.stringify(rest))
  execFileSync('npm', ['ci'], { cwd: scratch, stdio: ['ignore', 'ignore', 'inherit'] })
  renameSync(scratch, folder)
  return join(folder, 'node_modules')
}

/**
 * Copies this checkout's sources into a folder, as a build that reads and writes these versions of
 * snapshots.
 */
export function buildWith(
  parent: string,
  name: string,
  { reads, writes }: { readonly reads: readonly number[]; readonly writes: readonly number[] },
): Build {
  const folder = join(parent, name)
  for (const path of ['src', 'worker', 'package.json']) {
    cpSync(join(ROOT, path), join(folder, path), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const path = join(folder, VERSIONS_FILE)
  const text = readFileSync(path, 'utf8')
  const edited = text
    .replace(/(VERSIONS_READ: readonly number\[\] =) \[.*\]/, `$1 [${reads}]`)
    .replace(/(VERSIONS_WRITTEN: readonly number\[\] =) \[.*\]/, `$1 [${writes}]`)
  if (edited === text) throw new Error(`${VERSIONS_FILE} has other constants`)
  writeFileSync(path, edited)
  return { name, entry: join(folder, 'src/cli/run.ts'), worker: join(folder, 'worker/index.ts') }
}
