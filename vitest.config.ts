/**
 * The tests that need nothing but npm: `npm test`. `test/suites.config.ts` has the others.
 * @module
 */
import { availableParallelism } from 'node:os'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { CountReporter } from './test/reporter.ts'

/** Folders whose tests share nothing but the functions that they test. */
const PURE = (
  'bytes chain convert corefile dns doh expression gateway kubernetes pattern plugin-kit plugins ' +
  'records snapshot telemetry'
).split(' ')
const PURE_FILES = PURE.map((folder) => `test/${folder}/**/*.test.ts`)

const config: ViteUserConfig = defineConfig({
  test: {
    reporters: [new CountReporter()],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    includeTaskLocation: true,
    maxWorkers: availableParallelism(),
    // A process for each file would take longer than the tests of most files do.
    isolate: false,
    restoreMocks: true,
    setupFiles: 'test/setup.ts',
    // Node runs TypeScript by itself, as it runs it for the product.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    coverage: { include: ['src/**'], reporter: ['text-summary'] },
    projects: [
      { extends: true, test: { name: 'pure', include: PURE_FILES, pool: 'threads' } },
      {
        extends: true,
        test: {
          name: 'processes',
          include: ['test/**/*.test.ts'],
          exclude: PURE_FILES,
          pool: 'forks',
        },
      },
    ],
  },
})

export default config
