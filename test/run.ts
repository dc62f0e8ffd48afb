/**
 * Runs all tests that need nothing but npm (`npm test`), in two lanes at a time: what tests pure
 * functions, in one process, as starting one for each file takes longer than the tests; all else,
 * a process for each file. Ends with the sum of both, alone on a line.
 * @module
 */
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Folders whose tests share nothing but the functions that they test. */
const PURE: ReadonlySet<string> = new Set(
  (
    'convert corefile dns doh expression kubernetes pattern bytes chain plugin-kit plugins records ' +
    'snapshot telemetry'
  ).split(' '),
)
const COMMON = ['--test', '--test-timeout=120000', '--test-reporter=./test/reporter.ts']
const SUM = /^(\d+) passed, (\d+) failed$/

type Counts = { readonly passed: number; readonly failed: number }

const folders = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
const others = folders.filter((name) => !PURE.has(name))
const lanes = await Promise.all([
  runLane(['--test-isolation=none'], [...PURE].map(testsIn)),
  runLane(['--test-concurrency=2'], ['test/*.test.ts', ...others.map(testsIn)]),
])
const passed = lanes.reduce((sum, one) => sum + one.passed, 0)
const failed = lanes.reduce((sum, one) => sum + one.failed, 0)
process.stdout.write(`${passed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1

function testsIn(folder: string): string {
  return `test/${folder}/**/*.test.ts`
}

/** Runs tests and passes on what they print, but for the sum. */
function runLane(flags: readonly string[], patterns: readonly string[]): Promise<Counts> {
  const child = spawn(process.execPath, [...COMMON, ...flags, ...patterns], {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let counts: Counts = { passed: 0, failed: 0 }
  createInterface(child.stdout).on('line', (line) => {
    const [, good, bad] = SUM.exec(line) ?? []
    if (good === undefined || bad === undefined) process.stdout.write(`${line}\n`)
    else counts = { passed: Number(good), failed: Number(bad) }
  })
  return new Promise((resolve) => {
    child.once('close', (status) => {
      // A process that ends badly without a failing test has failed as well.
      const isSilent = status !== 0 && counts.failed === 0
      resolve(isSilent ? { ...counts, failed: 1 } : counts)
    })
  })
}
