/**
 * `npm run bench -- NAME --against REF`: this checkout and another commit in one run, by the entry
 * points that users reach: `bin/kubedoh` and the Worker's bundle.
 * @module
 */
import { formatColumns } from '../row.ts'
import { buildCommit, OWN_BUILD } from './commit.ts'
import { prepareCore } from './core.ts'
import { prepareGateway } from './gateway.ts'
import { type Pair, type PairedRow, pairedRow } from './paired.ts'
import { type Contest, runRound } from './rounds.ts'
import { prepareServer } from './server.ts'

/** Benchmarks that can compare two commits. */
export const CONTESTS: ReadonlyMap<string, () => Promise<Contest>> = new Map([
  ['core', prepareCore],
  ['server', prepareServer],
  ['gateway', prepareGateway],
])
/** Rounds without which no row is judged, and those after which an unclear one stays unclear. */
const ROUNDS_LEAST = 8
const ROUNDS_MAX = process.env.BENCH_QUICK === '1' ? ROUNDS_LEAST : 24
const UNITS: readonly (readonly [metric: RegExp, unit: string])[] = [
  [/memory/, 'MB'],
  [/→/, 'ms'],
  [/./, 'µs'],
]

/** Compares this checkout with a commit by one of `CONTESTS`. */
export async function compareWith(ref: string, bench: string): Promise<PairedRow[]> {
  const theirs = buildCommit(ref)
  const contest = await CONTESTS.get(bench)?.()
  if (contest === undefined) return []
  const pairs = new Map<string, Pair[]>()
  try {
    for (let round = 0; ; round++) {
      for (const [metric, pair] of await runRound(contest, { ours: OWN_BUILD, theirs }, round)) {
        pairs.set(metric, [...(pairs.get(metric) ?? []), pair])
      }
      const rows = Array.from(pairs, ([metric, all]) => {
        const unit = UNITS.find(([pattern]) => pattern.test(metric))?.[1] ?? ''
        return pairedRow({ bench, metric, unit }, all, theirs.name)
      })
      const unclear = rows.filter(({ verdict }) => verdict === 'unclear').length
      const count = round + 1
      process.stderr.write(`round ${count}: ${unclear} of ${rows.length} rows unclear\n`)
      if (count === ROUNDS_MAX || (count >= ROUNDS_LEAST && unclear === 0)) return rows
    }
  } finally {
    await contest.stop()
  }
}

/** Formats rows as a table. */
export function formatPaired(rows: readonly PairedRow[]): string {
  const percent = (ratio = Number.NaN): string =>
    `${ratio < 1 ? '' : '+'}${(100 * (ratio - 1)).toFixed(1)} %`
  const [{ peerName = '' } = {}] = rows
  return formatColumns([
    ['bench', 'metric', 'ours', peerName, 'cost', 'between', ''],
    ...rows.map((one) => [
      one.bench,
      one.metric,
      `${one.ours.toPrecision(3)} ${one.unit}`,
      `${(one.peer ?? Number.NaN).toPrecision(3)} ${one.unit}`,
      percent(one.ratio),
      `${percent(one.low)} and ${percent(one.high)}`,
      one.verdict,
    ]),
  ])
}
