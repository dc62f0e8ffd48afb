/**
 * The tests that need nothing but npm: `npm test`. `test/suites.config.ts` has the others.
 * @module
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { buildAssets } from './build/assets.ts'
import { CountReporter } from './test/reporter.ts'
import { LongestFirst } from './test/sequencer.ts'

/** Wings and rooms whose tests share nothing but the functions that they test. */
const PURE = (
  'dns go snapshot corefile resolver cluster/objects cluster/rules cluster/trees gateway ' +
  'operators/convert'
).split(' ')
const PURE_FILES = PURE.map((folder) => `test/${folder}/**/*.test.ts`)

/** Tests that run inside workerd, with what wrangler.toml binds, KV and R2. */
const WORKER_FILES =
  'audit-object blob-stores followers removed-cluster sql-rows sql-store token-object'
    .split(' ')
    .map((name) => `test/worker/${name}.test.ts`)
/** Imports them: the plugin would start a workerd for each, which takes 2 s of CPU time. */
const ALL_WORKER_FILES = 'test/worker/inside-workerd.test.ts'
const isOneNamed = WORKER_FILES.some((file) => process.argv.some((part) => file.includes(part)))

// Keeps wrangler from asking registries, telemetry and Cloudflare for anything.
Object.assign(process.env, {
  WRANGLER_SEND_METRICS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_WRITE_LOGS: 'false',
})
// esbuild is written in Go: by fewer collections it bundles the package with 1 s less of CPU time.
process.env.GOGC ??= '400'
/** Bound of the compiled code: 60 MB. */
const ENTRIES_MAX = 10_000
// Compiled code stays from one process to the next, and to the next run: `kubedoh serve` from its
// sources then starts with 0.35 s of CPU time, not 0.83 s. V8 counts less of it for the coverage.
if (!process.argv.includes('--coverage')) {
  const folder = join(import.meta.dirname, 'node_modules/.cache/compiled')
  process.env.NODE_COMPILE_CACHE ??= folder
  // Each run adds an entry for each test file, which vitest imports by a new URL.
  const isFull = existsSync(folder) && readdirSync(folder, { recursive: true }).length > ENTRIES_MAX
  if (isFull) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
/** The same for worker threads, also those of the server: a thread ignores the variable. */
const CACHED =
  "--import=data:text/javascript,import{enableCompileCache}from'node:module';" +
  'if(process.env.NODE_COMPILE_CACHE)enableCompileCache()'

await buildAssets()

const config: ViteUserConfig = defineConfig({
  test: {
    reporters: [new CountReporter()],
    // A failed test runs once more in CI, and the reporter prints it as flaky if it passes then.
    retry: process.env.CI === undefined ? 0 : 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    includeTaskLocation: true,
    // Two more than cores: tests wait for processes, sockets and TTLs half of the time.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    // A process for each file would take longer than the tests of most files do.
    isolate: false,
    execArgv: [CACHED],
    restoreMocks: true,
    setupFiles: 'test/setup.ts',
    // Node runs TypeScript by itself, as it runs it for the product.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    coverage: {
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      reportOnFailure: true,
    },
    projects: [
      { extends: true, test: { name: 'pure', include: PURE_FILES, pool: 'threads' } },
      {
        extends: true,
        test: {
          name: 'processes',
          include: ['test/**/*.test.ts'],
          exclude: [...PURE_FILES, ...WORKER_FILES, ALL_WORKER_FILES],
          pool: 'forks',
        },
      },
      {
        extends: true,
        plugins: [
          cloudflareTest({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: { kvNamespaces: ['SHARDS_KV'], r2Buckets: ['SHARDS_R2'] },
          }),
        ],
        test: {
          name: 'worker',
          include: isOneNamed ? WORKER_FILES : [ALL_WORKER_FILES],
          env: { STORE_RUNS: process.env.STORE_RUNS ?? '200' },
          experimental: { viteModuleRunner: true },
        },
      },
    ],
  },
})

export default config
