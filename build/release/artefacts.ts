/**
 * The files of a release, each built twice.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { CHARTS, packChart } from '../charts.ts'
import type { Variant } from '../image/debian.ts'
import { buildImage, VARIANTS } from '../image/image.ts'
import { buildPackage } from '../package.ts'

const ROOT = join(import.meta.dirname, '../..')

/** A file of a release. */
export type Artefact = {
  /** Path in the folder of the release. */
  readonly path: string
  readonly content: Uint8Array
  /** What the size of the file alone does not say. */
  readonly note?: string
  /** The digest by which registries know an image, `sha256:…`. */
  readonly digest?: string
}

/**
 * Builds the npm package, the charts, and the images with their bills of materials.
 * @throws {Error} when two builds of a file differ
 */
export async function buildArtefacts(
  version: string,
  architectures: readonly string[],
): Promise<Artefact[]> {
  const artefacts = [...(await buildTwice(npmPackage)), ...(await buildTwice(async () => charts()))]
  for (const variant of VARIANTS) {
    artefacts.push(...(await buildTwice(() => images(version, architectures, variant))))
  }
  return artefacts
}

/** Builds files twice, and returns them. @throws {Error} when a file has other bytes */
export async function buildTwice(
  build: () => Promise<readonly Artefact[]>,
): Promise<readonly Artefact[]> {
  const [first, second] = [await build(), await build()]
  for (const [i, { path, content }] of first.entries()) {
    const [one, other] = [sha256(content), sha256(second[i]?.content ?? new Uint8Array())]
    if (one !== other) throw new Error(`${path} is not reproducible: ${one}, then ${other}`)
  }
  return first
}

/** Returns the SHA-256 of some bytes in hexadecimal digits. */
export function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

async function npmPackage(): Promise<Artefact[]> {
  await buildPackage(join(ROOT, 'dist'))
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-pack-'))
  try {
    const options = ['--silent', '--ignore-scripts', '--pack-destination', folder]
    const file = execFileSync('npm', ['pack', ...options], { cwd: ROOT, encoding: 'utf8' }).trim()
    const content = readFileSync(join(folder, file))
    const note = `${kilobytes(gunzipSync(content).length)} kB installed, without Node`
    return [{ path: `npm/${file}`, content, note }]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function charts(): Artefact[] {
  return CHARTS.map((chart) => packChart(join(ROOT, 'deploy', chart))).map(({ file, content }) => ({
    path: `charts/${file}`,
    content,
  }))
}

async function images(
  version: string,
  architectures: readonly string[],
  variant: Variant,
): Promise<Artefact[]> {
  const image = await buildImage(architectures, variant)
  const name = `images/kubedoh-${version}${variant === '' ? '' : `-${variant}`}`
  const { withSymbols } = image
  const warning = withSymbols.length > 0 ? `; has symbols: ${withSymbols.join(', ')}` : ''
  const note = `${kilobytes(image.size / architectures.length)} kB compressed for each architecture`
  const boms = [...image.sboms].map(([architecture, text]) => ({
    path: `${name}.${architecture}.spdx.json`,
    content: Buffer.from(text),
  }))
  const { archive, digest } = image
  return [{ path: `${name}.tar`, content: archive, digest, note: note + warning }, ...boms]
}

/** Returns a number of bytes in kB, as text. */
export function kilobytes(bytes: number): string {
  return (bytes / 1000).toFixed(0)
}
