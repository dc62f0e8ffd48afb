/**
 * `npm run build`: bundles the command into `dist/`, which is what the npm package ships.
 * @module
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from './bundle.ts'
import { licencesOf } from './licences.ts'

const ROOT = join(import.meta.dirname, '..')

/**
 * Bundles the command into a folder, which is emptied first. `run.js` is what `bin/kubedoh` runs,
 * `serve-worker.js` a thread of `serve --workers`, `watch-worker.js` the one of large clusters.
 * @returns the paths below the root of all modules in the bundle
 */
export async function buildPackage(folder: string): Promise<readonly string[]> {
  const { files, modules } = await bundle([
    join(ROOT, 'src/cli/run.ts'),
    join(ROOT, 'src/server/serve-worker.ts'),
    join(ROOT, 'src/server/watch-worker.ts'),
  ])
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const { name, text } of files) writeFileSync(join(folder, name), text)
  writeFileSync(join(folder, 'LICENSES.txt'), licencesOf(ROOT, modules))
  return modules
}

if (import.meta.main) await buildPackage(join(ROOT, 'dist'))
