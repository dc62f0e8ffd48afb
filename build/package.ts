/**
 * `npm run build`: bundles the command into `dist/`, which is what the npm package ships.
 * @module
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { COMMANDS } from '../src/cli/commands.ts'
import { formatManual } from '../src/cli/manual.ts'
import { bundle } from './bundle.ts'
import { libraryTypes, NODE_LIBRARY } from './library.ts'
import { licencesOf } from './licences.ts'
import { bundleWorker } from './worker.ts'

const ROOT = join(import.meta.dirname, '..')

/**
 * Bundles what the package ships into a folder, which is emptied first. `run.js` is what
 * `bin/kubedoh` runs, `serve-worker.js` a thread of `serve --workers`, `watch-worker.js` the one of
 * large clusters, `worker.js` the gateway for Cloudflare, `edge.js` that for other runtimes with
 * Web APIs, `kubedoh.1` the manual page, and the others are the library for Node.
 * @returns the paths below the root of all modules in the bundle
 */
export async function buildPackage(folder: string): Promise<readonly string[]> {
  const { files, modules } = await bundle([
    join(ROOT, 'src/cli/run.ts'),
    join(ROOT, 'src/server/serve/serve-worker.ts'),
    join(ROOT, 'src/server/serve/watch-worker.ts'),
    ...NODE_LIBRARY.map((name) => join(ROOT, `src/library/${name}.ts`)),
  ])
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const { name, text } of files) writeFileSync(join(folder, name), text)
  for (const [path, text] of libraryTypes()) {
    mkdirSync(join(folder, 'types', dirname(path)), { recursive: true })
    writeFileSync(join(folder, 'types', path), text)
  }
  writeFileSync(join(folder, 'kubedoh.1'), formatManual(COMMANDS))
  writeFileSync(join(folder, 'worker.js'), await bundleWorker())
  writeFileSync(join(folder, 'edge.js'), await bundleWorker(join(ROOT, 'src/library/edge.ts')))
  writeFileSync(join(folder, 'LICENSES.txt'), licencesOf(ROOT, modules))
  return modules
}

if (import.meta.main) await buildPackage(join(ROOT, 'dist'))
