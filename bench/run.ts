/**
 * `npm run bench -- [NAME…] [--json FILE] [--markdown] [--quick] [--against REF]`: bundles the
 * benchmarks and the command as the package ships them, and runs `measure.ts`, so that what is
 * measured is what users run. `README.md` has the flags.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Plugin } from 'esbuild'
import { bundle } from '../build/bundle.ts'
import { buildPackage } from '../build/package.ts'

const BARE = ['servers/bare-http1.ts', 'servers/bare-http2.ts', 'servers/bare-bun.ts']
const ENTRIES = ['measure.ts', 'plugin-cost.ts', ...BARE]
const QUICK = '--quick'
/** Below the checkout, where packages outside of the bundle are found. */
const CACHE = join(import.meta.dirname, '../.cache')

/**
 * Gives modules of the build, the demo and tests the folder of their source, where their files
 * are.
 */
const inTheirFolders: Plugin = {
  name: 'import.meta.dirname of the source',
  setup({ onLoad }) {
    onLoad({ filter: /\/(bench|build|demo|test)\/.*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const folder = JSON.stringify(dirname(path))
      return { contents: text.replaceAll('import.meta.dirname', folder), loader: 'ts' }
    })
  },
}

mkdirSync(CACHE, { recursive: true })
const folder = mkdtempSync(join(CACHE, 'bench-'))
try {
  await buildPackage(join(folder, 'package'))
  const entries = ENTRIES.map((path) => join(import.meta.dirname, path))
  const options = { plugins: [inTheirFolders], external: ['esbuild', 'miniflare'] }
  const { files } = await bundle(entries, options)
  for (const { name, text } of files) writeFileSync(join(folder, name), text)
  const given = process.argv.slice(2).filter((flag) => flag !== QUICK)
  const args = [...process.execArgv, join(folder, 'measure.js'), ...given]
  const env = { ...process.env, ...(process.argv.includes(QUICK) && { BENCH_QUICK: '1' }) }
  process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit', env }).status ?? 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
