/**
 * Node for an image: the binary of the npm package that package-lock.json pins, without symbols.
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../cache-folder.ts'

const ROOT = join(import.meta.dirname, '../..')
/**
 * Tools that remove symbols, in the order in which they are tried: the first reads all
 * processors'.
 */
const STRIPS = ['llvm-strip', 'strip']

/** Node's binary and licence, its version, and the tool that removed its symbols, if any. */
export type Node = {
  readonly binary: Buffer
  readonly licence: Buffer
  readonly version: string
  readonly strippedBy: string | undefined
}

/**
 * Returns Node for `amd64` or `arm64`: from `node_modules`, or for another processor from npm.
 * @param scratch a folder that is removed after the build
 * @throws {Error} when npm cannot download it, or its checksum is not that of package-lock.json
 */
export function prepareNode(architecture: string, scratch: string): Node {
  const name = `node-linux-${architecture === 'amd64' ? 'x64' : architecture}`
  const installed = join(ROOT, 'node_modules', name)
  const folder = existsSync(installed) ? installed : unpackFromNpm(name, scratch)
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const stripped = join(scratch, `${name}-stripped`)
  const original = join(folder, 'bin/node')
  const works = (tool: string) => spawnSync(tool, ['-o', stripped, original]).status === 0
  const strippedBy = STRIPS.find(works)
  const binary = readFileSync(strippedBy === undefined ? original : stripped)
  return { binary, licence: readFileSync(join(folder, 'LICENSE')), version, strippedBy }
}

function unpackFromNpm(name: string, scratch: string): string {
  const cache = cacheFolder('image')
  mkdirSync(cache, { recursive: true })
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const { version, integrity } = packages[`node_modules/${name}`]
  const file = join(cache, `${name}-${version}.tgz`)
  if (!existsSync(file)) {
    const args = ['pack', `${name}@${version}`, '--pack-destination', cache, '--silent']
    execFileSync('npm', args, { cwd: scratch, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  const sum = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  if (sum !== integrity) {
    rmSync(file)
    throw new Error(`${name} ${version}: checksum is not that of package-lock.json`)
  }
  const parts = ['bin', 'LICENSE', 'package.json'].map((part) => `package/${part}`)
  execFileSync('tar', ['-xzf', file, '-C', scratch, ...parts])
  return join(scratch, 'package')
}
