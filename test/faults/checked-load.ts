/**
 * Control of a checking client in its own process.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { CheckedLoad, CheckedQuery, Counts, Order, Tally } from './checking-client.ts'

const CLIENT = join(import.meta.dirname, 'checking-client.ts')
/** Time for the responses to the last queries: a stub resolver's patience, and a busy machine. */
const RESPONSE_MS = 30_000

/** A load that checks every response. */
export class RunningLoad {
  private readonly child: ChildProcess

  private constructor(child: ChildProcess) {
    this.child = child
  }

  /**
   * Starts a load; it sends nothing before its first phase.
   * @param prefix a command that runs the rest of its arguments, such as nsenter
   */
  static async start(load: CheckedLoad, prefix: readonly string[] = []): Promise<RunningLoad> {
    const [command = '', ...args] = [...prefix, process.execPath, CLIENT, JSON.stringify(load)]
    const child = spawn(command, args, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const running = new RunningLoad(child)
    await running.response()
    return running
  }

  /**
   * Counts the queries from now on in another phase; other queries may replace the present
   * ones.
   */
  enter(phase: string, queries?: readonly CheckedQuery[]): void {
    this.order(queries === undefined ? { phase } : { phase, queries })
  }

  /** Stops sending until the next phase; resolves when no query waits for its response. */
  async pause(): Promise<void> {
    this.order({ isEnd: false })
    await this.response()
  }

  /** Stops sending; resolves with the counts when no query waits for its response. */
  async end(): Promise<Tally> {
    try {
      this.order({ isEnd: true })
      return await this.response()
    } finally {
      this.kill()
    }
  }

  /** Ends the process at once. */
  kill(): void {
    this.child.kill('SIGKILL')
  }

  private order(order: Order): void {
    this.child.send(order)
  }

  private async response(): Promise<Tally> {
    const signal = AbortSignal.timeout(RESPONSE_MS)
    const [tally]: readonly Tally[] = await once(this.child, 'message', { signal })
    return tally ?? {}
  }
}

/** Returns the sum of the counts of a group (default: of all) in the phases that a test accepts. */
export function sumOf(
  tally: Tally,
  isWanted: (phase: string, group: string) => boolean = () => true,
): Counts {
  const sum: Counts = { right: 0, late: 0, failed: 0, lost: 0, wrong: 0, examples: [] }
  for (const [phase, groups] of Object.entries(tally)) {
    for (const [group, counts] of Object.entries(groups)) {
      if (!isWanted(phase, group)) continue
      for (const key of ['right', 'late', 'failed', 'lost', 'wrong'] as const)
        sum[key] += counts[key]
      sum.examples.push(...counts.examples)
    }
  }
  return sum
}
