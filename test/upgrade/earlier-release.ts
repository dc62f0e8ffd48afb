/**
 * The image and the chart of an earlier commit, which stand for those of the last release.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../../build/cache-folder.ts'
import { buildEarlier } from '../versions/builds.ts'

/** Stands for the last release until one exists: the first chart with several gateways. */
const EARLIER = '38052517db6c95395d207ed845ec5b77395b0c14'

/** What a cluster has before its upgrade. */
export type Release = {
  /** The image, as an archive for containerd. */
  readonly image: Uint8Array
  /** Folder of the chart. */
  readonly chart: string
}

/**
 * Builds or finds the earlier image; the first build takes a minute.
 * @returns the reason if this clone lacks the commit
 */
export function prepareRelease(): Release | string {
  const folder = join(cacheFolder('releases'), EARLIER)
  const missing = buildEarlier(EARLIER, folder, (tree) => {
    const out = join(tree, 'release')
    mkdirSync(out)
    execFileSync(process.execPath, ['build/image/image.ts', '--out', out], {
      cwd: tree,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    renameSync(join(tree, 'deploy/chart'), join(out, 'chart'))
    return out
  })
  if (missing !== undefined) return missing
  const image = readFileSync(join(folder, 'kubedoh-0.1.0-amd64.tar'))
  return { image, chart: join(folder, 'chart') }
}
