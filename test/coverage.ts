/**
 * Prints how much of each wing the tests run, and fails where it is too little: the last step of
 * `npm run coverage`.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { styleText } from 'node:util'
import { recordOf } from '../src/dns/bytes/unknown.ts'
import { MAY_IMPORT } from './tidy.ts'

const ROOT = join(import.meta.dirname, '..')
const SUMMARY = join(ROOT, 'coverage/coverage-summary.json')
/** Least percentages of a wing. */
const LEAST = { lines: 95, branches: 85 }
type Measure = keyof typeof LEAST
/**
 * Of wings that tests run as programs of their own, where nothing counts: `bin/kubedoh`, `deploy`
 * and `connect`; a Worker and other runtimes, for the 36 lines of the library.
 */
const LEAST_APART: Readonly<Record<string, typeof LEAST>> = {
  'src/cli': { lines: 90, branches: 85 },
  'src/library': { lines: 85, branches: 60 },
}
const MEASURES: readonly Measure[] = ['lines', 'branches']

const files = Object.entries(recordOf(JSON.parse(readFileSync(SUMMARY, 'utf8'))))
for (const wing of Object.keys(MAY_IMPORT).filter((name) => name.startsWith('src/'))) {
  const own = files.filter(([file]) => relative(ROOT, file).startsWith(`${wing}/`))
  const cells = MEASURES.map((measure) =>
    cell(
      measure,
      own.map(([, counts]) => counts),
      LEAST_APART[wing] ?? LEAST,
    ),
  )
  process.stdout.write(`${wing.padEnd(14)}${cells.join('')}\n`)
}

function cell(measure: Measure, counts: readonly unknown[], least: typeof LEAST): string {
  const sum = (field: string): number =>
    counts.reduce(
      (total: number, one) => total + Number(recordOf(recordOf(one)[measure])[field]),
      0,
    )
  const percentage = (100 * sum('covered')) / sum('total')
  const text = `${percentage.toFixed(1)} % of ${measure}`.padStart(20)
  if (percentage >= least[measure]) return text
  process.exitCode = 1
  return styleText('red', `${text} (at least ${least[measure]})`)
}
