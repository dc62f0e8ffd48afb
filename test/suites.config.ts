/**
 * The suites that need other programs, or long: `npm run test:NAME` runs one.
 * @module
 */
import { join } from 'node:path'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { buildAssets } from '../build/assets.ts'
import { shareImages } from './real-node/built-images.ts'
import { CountReporter } from './reporter.ts'
import { reportSlowTurns } from './slow-turns.ts'

const SUITES = {
  attack: 'test/attack/*.suite.ts',
  beside: 'test/beside/*.suite.ts',
  chart: 'test/chart/*.suite.ts',
  clients: 'test/clients/*.suite.ts',
  cluster: 'test/{real-cluster,differential}/*.suite.ts',
  conformance: 'test/e2e/*.suite.ts',
  faults: 'test/faults/*.suite.ts',
  foreign: 'test/foreign/*.suite.ts',
  fuzz: 'test/fuzz/*.suite.ts',
  image: 'test/image/*.suite.ts',
  node: 'test/real-node/*.suite.ts',
  modes: 'test/node-modes/*.suite.ts',
  stores: 'test/server/gateway/*.suite.ts',
  upgrade: 'test/upgrade/*.suite.ts',
  versions: 'test/versions/*.suite.ts',
  views: 'test/views/*.suite.ts',
}

await buildAssets()
shareImages()

const config: ViteUserConfig = defineConfig({
  root: join(import.meta.dirname, '..'),
  test: {
    reporters: [new CountReporter(reportSlowTurns())],
    // A failed test runs once more in CI, and the reporter prints it as flaky if it passes then.
    retry: process.env.CI === undefined ? 0 : 1,
    testTimeout: 0,
    hookTimeout: 0,
    includeTaskLocation: true,
    maxWorkers: 1,
    restoreMocks: true,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    projects: Object.entries(SUITES).map(([name, include]) => ({
      extends: true,
      // Kubernetes' tests mostly wait; more of them side by side run into their time-outs.
      test: { name, include: [include], ...(name === 'conformance' && { maxConcurrency: 3 }) },
    })),
  },
})

export default config
