/**
 * How many runs of `store-faults.ts` are played on each medium, and what must come of them.
 * @module
 */
import { assert, type TestContext } from 'vitest'
import { type FaultTally, type Medium, playFaults, type Random } from './store-faults.ts'

/** Runs of all media together: 200, or what `STORE_RUNS` in the environment says. */
const TOTAL = Number(process.env.STORE_RUNS ?? 200)
/** Runs on each: what is simulated as on Cloudflare takes longer. */
export const RUNS: Readonly<Record<'memory' | 'files' | 'object' | 'near', number>> = {
  memory: Math.round(TOTAL * 0.39),
  files: Math.round(TOTAL * 0.5),
  object: Math.round(TOTAL * 0.1),
  near: Math.max(5, Math.round(TOTAL * 0.005)),
}
/** Runs that are asked for at a time. */
const AT_A_TIME = 100
/** Of the questions while a good copy exists, so many are answered. */
const SHARE = 0.99

/** A medium's name, how many runs it gets, and what plays them. */
export type Played = {
  readonly name: string
  readonly runs: number
  /** Plays runs from a seed on, and returns their tally. */
  readonly play: (from: number, count: number) => Promise<FaultTally>
}

/** Returns what plays runs on a medium. */
export function playOn(mediumOf: (random: Random) => Medium): Played['play'] {
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return (from, count) =>
    playFaults(
      Array.from({ length: count }, (_, i) => from + i),
      turn,
      mediumOf,
    )
}

/** Plays runs, prints what came of them, and checks it. */
export async function checkFaults(t: TestContext, { name, runs, play }: Played): Promise<void> {
  const sum: FaultTally = { runs: 0, answers: 0, wrong: 0, withCopy: 0, right: 0 }
  for (let from = 0; from < runs; from += AT_A_TIME) {
    const tally = await play(from, Math.min(AT_A_TIME, runs - from))
    for (const key of ['runs', 'answers', 'wrong', 'withCopy', 'right'] as const) {
      sum[key] += tally[key]
    }
  }
  const share = ((100 * sum.right) / Math.max(1, sum.withCopy)).toFixed(2)
  const counts = `${sum.runs} runs, ${sum.answers} answers, ${sum.wrong} wrong`
  await t.annotate(`${name}: ${counts}, ${share} % answered while one good copy exists`)
  assert.strictEqual(sum.runs, runs)
  assert.ok(sum.withCopy > 4 * runs, `${sum.withCopy} questions`)
  assert.ok(sum.right >= SHARE * sum.withCopy, `${share} %`)
}
