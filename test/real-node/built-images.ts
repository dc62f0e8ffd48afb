/**
 * Images of kubedoh for real nodes, built once in a run of suites: each takes ten seconds.
 * @module
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Variant } from '../../build/image/debian.ts'
import { buildImage } from '../../build/image/image.ts'
import type { Image } from '../../build/image/oci.ts'

/** Has all suites that this process starts share their images, until it ends. */
export function shareImages(): void {
  const folder = join(tmpdir(), `kubedoh-images-${process.pid}`)
  process.env.KUBEDOH_TEST_IMAGES = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
}

/** Returns the image for amd64, which the first that asks builds. */
export async function builtImage(variant: Variant = ''): Promise<Image> {
  const { KUBEDOH_TEST_IMAGES: folder } = process.env
  if (folder === undefined) return buildImage(['amd64'], variant)
  const archive = join(folder, `image-${variant}.tar`)
  const about = join(folder, `image-${variant}.json`)
  if (existsSync(about)) {
    const { digest, size } = JSON.parse(readFileSync(about, 'utf8'))
    return { archive: readFileSync(archive), digest, size }
  }
  const built = await buildImage(['amd64'], variant)
  mkdirSync(folder, { recursive: true })
  writeFileSync(archive, built.archive)
  writeFileSync(about, JSON.stringify({ digest: built.digest, size: built.size }))
  return built
}
