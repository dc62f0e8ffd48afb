/**
 * A build of kubedoh that a benchmark starts: this checkout's, or that of another commit.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cacheFolder } from '../../build/cache-folder.ts'
import { BUNDLES, ROOT } from '../places.ts'

/** A checkout with its package, by the paths that users start. */
export type Build = {
  readonly name: string
  /** `bin/kubedoh`. */
  readonly command: string
  /** What the command runs. */
  readonly entry: string
  /** The Worker. */
  readonly worker: string
}

/** This checkout, with the changes that are not committed. */
export const OWN_BUILD: Build = buildIn('this checkout', ROOT, join(BUNDLES, 'package'))

/**
 * Builds another commit of this repository, once, in the user's cache: its files, its packages
 * (ours if package-lock.json is the same) and its bundle.
 * @throws {Error} when git does not know it, or it cannot be built
 */
export function buildCommit(ref: string): Build {
  const hash = execFileSync('git', ['rev-parse', '--verify', `${ref}^{commit}`], {
    cwd: ROOT,
    encoding: 'utf8',
  }).trim()
  const folder = cacheFolder(`commits/${hash}`)
  if (!existsSync(folder)) {
    const unfinished = `${folder}.new`
    rmSync(unfinished, { recursive: true, force: true })
    mkdirSync(unfinished, { recursive: true })
    const files = execFileSync('git', ['archive', hash], { cwd: ROOT, maxBuffer: 2 ** 30 })
    execFileSync('tar', ['-x'], { cwd: unfinished, input: files })
    install(unfinished)
    npm(unfinished, 'run', 'build')
    renameSync(unfinished, folder)
  }
  return buildIn(hash.slice(0, 8), folder, join(folder, 'dist'))
}

function buildIn(name: string, root: string, bundle: string): Build {
  const command = join(root, 'bin/kubedoh')
  return { name, command, entry: join(bundle, 'run.js'), worker: join(bundle, 'worker.js') }
}

function install(folder: string): void {
  const lock = (root: string): string => readFileSync(join(root, 'package-lock.json'), 'utf8')
  if (lock(folder) === lock(ROOT)) {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  } else {
    npm(folder, 'ci', '--no-audit', '--no-fund')
  }
}

function npm(folder: string, ...args: readonly string[]): void {
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  const env = { ...process.env, PATH }
  execFileSync('npm', args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] })
}
