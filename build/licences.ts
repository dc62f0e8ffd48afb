/**
 * The licences of packages inside a bundle.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of a package, at the start of a path or below the modules of another package. */
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/
const LICENCE = /^licen[cs]e/i

/** A package of npm, with the texts of its licence. */
export type LicensedPackage = {
  readonly name: string
  readonly version: string
  /** The SPDX expression of its package.json. */
  readonly license: string | undefined
  readonly texts: readonly string[]
}

/**
 * Returns the packages that have some of the modules, sorted by folder.
 * @param modules paths relative to `root`
 * @throws {Error} for a package without a licence
 */
export function packagesOf(root: string, modules: readonly string[]): LicensedPackage[] {
  const folders = new Set(modules.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []))
  return [...folders].sort().map((folder) => packageIn(join(root, folder)))
}

/** Returns a text with name, version and licence of each package of {@link packagesOf}. */
export function licencesOf(root: string, modules: readonly string[]): string {
  const texts = packagesOf(root, modules).map(
    ({ name, version, license, texts }) =>
      `${'-'.repeat(78)}\n${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`,
  )
  return `This software contains the following packages.\n\n${texts.join('\n')}`
}

function packageIn(folder: string): LicensedPackage {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { name, version, license } = manifest
  const files = readdirSync(folder).filter((file) => LICENCE.test(file))
  if (license === undefined && files.length === 0) throw new Error(`${name} has no licence`)
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return { name, version, license, texts }
}
