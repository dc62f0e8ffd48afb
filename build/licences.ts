/**
 * The licences of packages inside a bundle.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of a package, at the start of a path or below the modules of another package. */
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/
const LICENCE = /^licen[cs]e/i

/**
 * Returns a text with name, version and licence of each package that has some of the modules.
 * @param modules paths relative to `root`
 * @throws {Error} for a package without a licence
 */
export function licencesOf(root: string, modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []))
  const texts = [...folders].sort().map((folder) => licenceOf(join(root, folder)))
  return `This software contains the following packages.\n\n${texts.join('\n')}`
}

function licenceOf(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { name, version, license } = manifest
  const files = readdirSync(folder).filter((file) => LICENCE.test(file))
  if (license === undefined && files.length === 0) throw new Error(`${name} has no licence`)
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return `${'-'.repeat(78)}\n${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`
}
