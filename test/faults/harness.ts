/**
 * Servers of the fault suite: started with a Corefile, queried by a checking client, and measured.
 * @module
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestContext } from 'vitest'
import { randomFrom } from '../../bench/cluster-objects.ts'
import { type Program, startProgram } from '../attack/program.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { freePort } from '../free-port.ts'
import { ask } from './ask.ts'
import { RunningLoad, sumOf } from './checked-load.ts'
import type { CheckedQuery, Counts, Tally } from './checking-client.ts'

/** The seed of all chances; a failed run repeats with KUBEDOH_FAULT_SEED. */
export const SEED: number = Number(process.env.KUBEDOH_FAULT_SEED ?? randomInt(1 << 30))
/** Factor for the times that faults last. */
export const SCALE: number = Number(process.env.KUBEDOH_FAULT_SCALE ?? 1)

const PER_SECOND = 300
const TCP_PER_SECOND = 30
const WARM_UP_MS = 1000
/** Interval of reading memory. */
const SAMPLE_MS = 50
/** Maximum of memory at the end, as a multiple of that before the first fault. */
const MEMORY_MAX = 1.3
/** Time for responses to become right after a fault: a lost API server is tried every 30 s. */
const FOLLOW_MS = 45_000
/** Time for memory to return. */
const SETTLE_MS = 30_000

/** Returns chances of its own for a part of the suite, which the order of tests does not change. */
export function randomOf(part: string): () => number {
  let seed = SEED
  for (const letter of part) seed = (Math.imul(seed, 31) + letter.charCodeAt(0)) | 0
  return randomFrom(seed)
}

/** Returns a number from `min` to `max`, in milliseconds, that lasts longer in the long form. */
export function duration(random: () => number, min: number, max: number): number {
  return SCALE * (min + random() * (max - min))
}

/** Returns the items in a random order. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

/** How to start a server. */
export type ServerOptions = {
  /** The Corefile; `PORT` in it becomes the server's port. */
  readonly corefile: string
  /** Further files of its folder. */
  readonly files?: Readonly<Record<string, string>>
  /** Flags of the command; `FOLDER` in them becomes the folder. */
  readonly flags?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly descriptorsMax?: number
}

/** A server under faults. */
export class FaultedServer {
  readonly port: number
  private readonly folder: string
  private readonly options: ServerOptions
  private current: Program | undefined
  private memoryStart = 0
  private memoryPeak = 0

  private constructor(folder: string, port: number, options: ServerOptions) {
    this.folder = folder
    this.port = port
    this.options = options
  }

  /** Starts a server, which runs until its test ends. */
  static async start(t: TestContext, options: ServerOptions): Promise<FaultedServer> {
    const port = await freePort()
    const corefile = options.corefile.replaceAll('PORT', String(port))
    const folder = temporaryFolder(t, { ...options.files, Corefile: corefile })
    const server = new FaultedServer(folder, port, options)
    t.onTestFinished(() => server.kill('SIGTERM'))
    await server.restart()
    return server
  }

  /** Path of a file in its folder. */
  path(name: string): string {
    return join(this.folder, name)
  }

  /** Writes a file in its folder. */
  write(name: string, text: string): void {
    writeFileSync(this.path(name), text)
  }

  /** Starts it again at the same port; resolves when it is ready. */
  async restart(): Promise<void> {
    const { flags = [], environment = {}, descriptorsMax } = this.options
    const fill = (text: string): string => text.replace('FOLDER', this.folder)
    const own = flags.map(fill)
    const filled = Object.entries(environment).map(([name, text]) => [name, fill(text)] as const)
    const args = ['serve', '--conf', this.path('Corefile'), ...own]
    this.current = await startProgram(args, {
      ready: /^ready/,
      environment: Object.fromEntries(filled),
      ...(descriptorsMax !== undefined && { descriptorsMax }),
    })
  }

  /** Sends a signal to the process. */
  signal(name: NodeJS.Signals): void {
    this.program.running.child.kill(name)
  }

  /** Ends the process. */
  async kill(name: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.hasEnded) return
    const { child, stop } = this.program.running
    child.kill(name)
    await stop()
  }

  /**
   * Starts a load, and reads the memory when it is that of normal use. The load is paused then.
   * @param tcpPerSecond TCP connections a second
   */
  async load(
    t: TestContext,
    queries: readonly CheckedQuery[],
    tcpPerSecond: number = TCP_PER_SECOND,
  ): Promise<RunningLoad> {
    const { port } = this
    const load = await RunningLoad.start({ port, perSecond: PER_SECOND, tcpPerSecond, queries })
    t.onTestFinished(() => load.kill())
    await this.follow(queries)
    load.enter('right before')
    await sleep(WARM_UP_MS)
    await load.pause()
    this.memoryStart = this.program.memory()
    const timer = setInterval(() => {
      if (this.hasEnded) return
      // NaN while the process ends.
      const now = this.program.memory()
      if (now > this.memoryPeak) this.memoryPeak = now
    }, SAMPLE_MS)
    t.onTestFinished(() => clearInterval(timer))
    return load
  }

  /** Waits until each query, repeated, gets a right response over UDP. */
  async follow(queries: readonly CheckedQuery[]): Promise<void> {
    const deadline = performance.now() + FOLLOW_MS
    for (const { name, expected } of queries) {
      for (let i = 0, outcome = ''; !expected.includes(outcome); i++) {
        const text = `${name} is ${outcome}, not ${expected}: ${this.program.running.tail()}`
        assert.ok(performance.now() < deadline, text)
        outcome = await ask(this.port, name.replace('#', `follow-${i}`))
      }
    }
  }

  /**
   * Prints what was tried and lost.
   * @throws {AssertionError} when the process has ended, memory has not returned, or a query of a
   * phase that is named `right` was not answered right
   */
  async check(name: string, tried: string, tally: Tally): Promise<void> {
    assert.ok(!this.hasEnded, `${name}: the server has ended: ${this.program.running.tail()}`)
    const after = await this.settledMemory()
    const sum = sumOf(tally)
    const memory = [this.memoryStart, this.memoryPeak, after].map((mib) => mib.toFixed(0)).join('/')
    process.stdout.write(
      `${name} | ${tried} | ${countsText(sum)} | memory ${memory} MiB | seed ${SEED}\n`,
    )
    assert.equal(sum.wrong, 0, `${name}: ${describe(tally)}`)
    for (const phase of Object.keys(tally).filter((one) => one.startsWith('right'))) {
      const { right, failed, lost } = sumOf(tally, (one) => one === phase)
      assert.ok(right > 0, `${name}: nothing was sent in phase ${phase}`)
      assert.equal(failed + lost, 0, `${name}, ${phase}: ${describe(tally)}`)
    }
    assert.ok(after <= this.memoryStart * MEMORY_MAX, `${name}: memory stays at ${memory} MiB`)
  }

  private get hasEnded(): boolean {
    const { exitCode, signalCode } = this.program.running.child
    return exitCode !== null || signalCode !== null
  }

  private get program(): Program {
    assert.ok(this.current !== undefined)
    return this.current
  }

  /** Waits until memory has returned, or the time is over. */
  private async settledMemory(): Promise<number> {
    const deadline = performance.now() + SETTLE_MS
    const { program } = this
    while (program.memory() > this.memoryStart * MEMORY_MAX && performance.now() < deadline) {
      await sleep(100)
    }
    return program.memory()
  }
}

/** Formats counts. */
export function countsText({ right, failed, lost, wrong }: Counts): string {
  const all = (right + failed + lost + wrong).toLocaleString('en-US')
  return `${all} queries: ${failed} failed, ${lost} lost, ${wrong} wrong`
}

/** Formats counts by phase and group, with examples of those that are not right. */
export function describe(tally: Tally): string {
  const lines = Object.entries(tally).flatMap(([phase, groups]) =>
    Object.entries(groups).map(([group, counts]) => {
      const examples = counts.examples.map((one) => `\n    ${one}`).join('')
      return `  ${phase}, ${group}: ${countsText(counts)}${examples}`
    }),
  )
  return `\n${lines.join('\n')}\n`
}
