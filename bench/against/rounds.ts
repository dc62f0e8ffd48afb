/**
 * Rounds of two servers of different builds, which have the core of servers in turn.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Build } from './commit.ts'
import type { Pair } from './paired.ts'

/** Numbers by metric: the smaller, the better. */
export type Costs = Readonly<Record<string, number>>

/** A server that runs, warmed up. */
export type Contestant = {
  readonly pids: readonly number[]
  /** What its start has cost. */
  readonly start: Costs
  /** What is measured in turn with the other server. */
  readonly phases: readonly (() => Promise<Costs>)[]
  /** What it has cost at its end. */
  readonly end?: () => Promise<Costs>
  readonly stop: () => Promise<unknown>
}

/** How to start the servers of a benchmark, and to end what they need. */
export type Contest = {
  readonly start: (build: Build) => Promise<Contestant>
  readonly stop: () => Promise<unknown>
}

type Side = keyof Pair
type Sums = Map<string, Record<Side, number>>

/** Time that a server gets to read what came while it stood still. */
const AWAKE_MS = 100

/**
 * Runs one round: both are started again, since a process keeps what its compiler chose. Each phase
 * is measured A B B A, or B A A B in every other round: a drift of the machine costs both the same.
 */
export async function runRound(
  contest: Contest,
  builds: Readonly<Record<Side, Build>>,
  round: number,
): Promise<ReadonlyMap<string, Pair>> {
  const order: readonly [Side, Side] = round % 2 === 0 ? ['ours', 'theirs'] : ['theirs', 'ours']
  const sums: Sums = new Map()
  const running: Partial<Record<Side, Contestant>> = {}
  try {
    for (const side of order) {
      const server = await contest.start(builds[side])
      running[side] = server
      add(sums, side, server.start)
      signal(server, 'SIGSTOP')
    }
    const [a, b] = order
    for (const i of running.ours?.phases.keys() ?? []) {
      for (const side of [a, b, b, a]) {
        await alone(running[side], async (server) => {
          add(sums, side, (await server.phases[i]?.()) ?? {}, 2)
        })
      }
    }
    for (const side of order) {
      await alone(running[side], async (server) => add(sums, side, (await server.end?.()) ?? {}))
    }
    return sums
  } finally {
    for (const server of Object.values(running)) {
      signal(server, 'SIGCONT')
      await server.stop()
    }
  }
}

async function alone(
  server: Contestant | undefined,
  measure: (server: Contestant) => Promise<void>,
): Promise<void> {
  if (server === undefined) return
  signal(server, 'SIGCONT')
  await sleep(AWAKE_MS)
  await measure(server)
  signal(server, 'SIGSTOP')
}

function signal({ pids }: Contestant, name: 'SIGCONT' | 'SIGSTOP'): void {
  for (const pid of pids) process.kill(pid, name)
}

function add(sums: Sums, side: Side, costs: Costs, times = 1): void {
  for (const [metric, cost] of Object.entries(costs)) {
    const pair = sums.get(metric) ?? { ours: 0, theirs: 0 }
    pair[side] += cost / times
    sums.set(metric, pair)
  }
}
