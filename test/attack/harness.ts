/**
 * Attacks a program while a well-behaved client queries it, and checks the client's latency and the
 * program's memory.
 * @module
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestOptions } from 'vitest'
import type { Program } from './program.ts'
import { watchPeak } from './program.ts'
import type { Probe, Sample } from './quiet-client.ts'

/** Factor for the volumes of attacks. */
export const SCALE: number = Number(process.env.KUBEDOH_ATTACK_SCALE ?? 1)
/** Maximum of the client's p99 in an attack, as a multiple of the quiet p99. */
const SLOWER_MAX = 20
/** Minimum of the quiet p99: below it, the scheduler's time slices dominate. */
const QUIET_P99_MS_MIN = 10
/** Maximum of memory after an attack, as a multiple of that before the first one. */
const MEMORY_MAX = 1.3
/** Time for memory to return. */
const SETTLE_MS = 30_000
/** Duration of the quiet phase before the first attack, and at least after each. */
const QUIET_MS = 1000
/** Time limit of an attack. */
const ATTACK_MS = 120_000
/** Niceness of attackers: they yield the CPU, as if they ran on another machine. */
const NICE = 10

/** A program, its quiet client, and its memory before the first attack. */
export type Target = {
  readonly program: Program
  readonly client: ChildProcess
  readonly memoryStart: number
  /** Results of the client's queries since the previous attack. */
  quiet: readonly Sample[]
  readonly stop: () => Promise<void>
}

/**
 * Repeats a row once if others waited too long, memory was not back in time, or the attacker did
 * not end in time, and for no other reason. The p99 of some 60 queries is the slowest one, and the
 * machine has other work; a row that is really slow fails twice.
 */
export const REPEATED: TestOptions = {
  retry: { count: 1, condition: /waited: p99|memory stays|attacker ended with null/ },
}

/** One attack to run, and its description. */
export type Row = {
  /** Description of the attack. */
  readonly name: string
  readonly volume: string
  /** URL of the module with the attack, `import.meta.resolve('./x-attacks.ts')`. */
  readonly module: string
  /** The exported function. */
  readonly run: string
  /** Its argument, as JSON. */
  readonly argument: unknown
  /** The command that runs the attacker in another network (default: none). */
  readonly within?: readonly string[]
  /** What the client's p99 may always be, in milliseconds, whatever multiple of the quiet p99. */
  readonly p99MsMax?: number
  /** Maximum of memory after the attack, as a multiple of that before the first (default: 1.3). */
  readonly memoryMax?: number
}

/**
 * Starts the quiet client of a running program.
 * @param warmUp sends enough queries that the program's memory is that of normal use
 */
export async function startTarget(
  program: Program,
  probes: readonly Probe[],
  warmUp: () => Promise<unknown> = async () => undefined,
): Promise<Target> {
  const client = startNode('quiet-client.ts', [JSON.stringify(probes)], { within: program.within })
  await warmUp()
  await sleep(QUIET_MS)
  const quiet = await collect(client)
  for (const { kind, fault } of quiet) {
    assert.equal(fault, undefined, `the quiet client over ${kind}, before any attack`)
  }
  return {
    program,
    client,
    memoryStart: program.memory(),
    quiet,
    stop: async () => {
      client.disconnect()
      await program.running.stop()
    },
  }
}

/** A running program, and the probes of its quiet client. */
export type Probed = { readonly program: Program; readonly probes: readonly Probe[] }

/**
 * Starts a program and its twin, which is not attacked: what slows down both is the machine that
 * they share with the attackers.
 * @param warmUp as of {@link startTarget}, called for the twin and the program (default: nothing)
 */
export async function startWithTwin<One extends Probed>(
  start: () => Promise<One>,
  warmUp: (one: One, isTwin: boolean) => Promise<unknown> = async () => undefined,
): Promise<{ readonly target: Target; readonly one: One }> {
  const [one, twin] = [await start(), await start()]
  const twinProbes = twin.probes.map((probe) => ({ ...probe, isTwin: true }))
  const target = await startTarget(one.program, [...one.probes, ...twinProbes], async () => {
    await warmUp(twin, true)
    await warmUp(one, false)
  })
  const stop = async (): Promise<void> => {
    await target.stop()
    await twin.program.running.stop()
  }
  return { one, target: { ...target, stop } }
}

/** Runs an attack in its own process. Returns the result of its function. */
export async function runAttacker({ module, run, argument, within = [] }: Row): Promise<unknown> {
  const child = startNode('attacker.ts', [module, run, JSON.stringify(argument)], {
    within,
    nice: NICE,
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), ATTACK_MS)
  const results: unknown[] = []
  child.on('message', (result) => results.push(result))
  const [status] = await once(child, 'close')
  clearTimeout(timer)
  assert.equal(status, 0, `the attacker ended with ${status}`)
  return results[0]
}

/**
 * Runs one row and prints it.
 * @returns what the attack returned
 * @throws {AssertionError} when the client was refused or slowed down, or memory was not freed
 */
export async function attack(target: Target, row: Row): Promise<unknown> {
  const { program, client, memoryStart } = target
  const cpuStart = program.cpuSeconds()
  const peakOf = watchPeak(program)
  const startMs = Date.now()
  const result = await runAttacker(row).finally(peakOf)
  const endMs = Date.now()
  const cpu = program.cpuSeconds() - cpuStart
  const peak = peakOf()
  await sleep(QUIET_MS)
  const { memoryMax = MEMORY_MAX } = row
  const after = await settledMemory(target, memoryMax)
  const samples = await collect(client)
  const during = samples.filter((one) => one.startMs >= startMs && one.startMs <= endMs)
  const since = samples.filter((one) => one.startMs > endMs + 500)
  const compared = compare([...target.quiet, ...since], during)
  target.quiet = since
  const memory = [memoryStart, peak, after].map((mib) => mib.toFixed(0)).join('/')
  const seconds = ((endMs - startMs) / 1000).toFixed(1)
  const others = compared.map(({ text }) => text).join('; ')
  const kills = program.cgroup?.oomKills() ?? 0
  const limited = program.cgroup ? ` (cgroup's peak ${program.cgroup.peakMib().toFixed(0)})` : ''
  const costs = `memory ${memory} MiB${limited}, CPU ${cpu.toFixed(1)} of ${seconds} s`
  process.stdout.write(`${row.name} | ${row.volume} | ${costs} | ${others}\n`)
  assert.equal(kills, 0, `${row.name}: the kernel ended the program for its memory`)
  const asked = samples.filter((one) => one.startMs >= startMs)
  check(row, compared, { samples: asked, startMs })
  assert.ok(after <= memoryStart * memoryMax, `${row.name}: memory stays at ${memory} MiB`)
  return result
}

type Compared = {
  readonly kind: string
  readonly text: string
  /** The quiet p99 to compare with. */
  readonly quietP99: number
  readonly p99: number
}

type Asked = { readonly samples: readonly Sample[]; readonly startMs: number }

function check(row: Row, compared: readonly Compared[], { samples, startMs }: Asked): void {
  const faults = samples.filter(({ fault }) => fault !== undefined)
  const list = faults.slice(0, 5).map((one) => {
    const sinceStart = ((one.startMs - startMs) / 1000).toFixed(1)
    return `${one.kind}: ${one.fault} (${sinceStart} s after the start, ${one.ms.toFixed(0)} ms)`
  })
  const failed = `${faults.length} of ${samples.length} queries of others failed`
  assert.equal(faults.length, 0, `${row.name}: ${failed}: ${list.join(', ')}`)
  for (const { kind, quietP99, p99 } of compared) {
    const slower = `p99 ${quietP99.toFixed(1)} → ${p99.toFixed(1)} ms`
    assert.ok(
      p99 <= Math.max(row.p99MsMax ?? 0, quietP99 * SLOWER_MAX),
      `${row.name}: others over ${kind} waited: ${slower}`,
    )
  }
}

function compare(quiet: readonly Sample[], during: readonly Sample[]): Compared[] {
  const kinds = [...new Set(during.map(({ kind }) => kind))]
  assert.ok(kinds.length > 0, 'the quiet client asked nothing while the attack ran')
  return kinds.map((kind) => {
    const asked = during.filter((one) => one.kind === kind && !one.isTwin)
    const twin = during.filter((one) => one.kind === kind && one.isTwin)
    const before = quiet.filter((one) => one.kind === kind && !one.isTwin)
    const [p99, twinP99, beforeP99] = [p99Of(asked), p99Of(twin), p99Of(before)]
    const quietP99 = Math.max(beforeP99, twinP99, QUIET_P99_MS_MIN)
    const failed = asked.filter(({ fault }) => fault !== undefined).length
    const counts = `${kind} ${asked.length - failed} answered, ${failed} not`
    const aside = twin.length === 0 ? '' : ` (twin ${twinP99.toFixed(1)})`
    const text = `${counts}, p99 ${beforeP99.toFixed(1)} → ${p99.toFixed(1)} ms${aside}`
    return { kind, text, quietP99, p99 }
  })
}

/** Returns the p99 of the answered queries. */
function p99Of(samples: readonly Sample[]): number {
  const answered = samples.filter(({ fault }) => fault === undefined)
  const sorted = answered.map(({ ms }) => ms).sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? 0
}

/**
 * Waits until memory has returned, or the time is over. The client pauses: on a slow machine its
 * new TLS connections alone take a quarter of a CPU, with which no program counts as quiet.
 */
async function settledMemory(
  { program, client, memoryStart }: Target,
  max: number,
): Promise<number> {
  const deadline = Date.now() + SETTLE_MS
  while (program.memory() > memoryStart * max && Date.now() < deadline) {
    client.send('pause')
    await sleep(100)
  }
  return program.memory()
}

/** Returns the client's samples since the last call, after those in flight. */
async function collect(client: ChildProcess): Promise<readonly Sample[]> {
  client.send('collect')
  const [samples]: readonly unknown[] = await once(client, 'message')
  return Array.isArray(samples) ? samples : []
}

/** Starts a script of this folder with the system's maximum of descriptors. */
function startNode(
  file: string,
  args: readonly string[],
  { within, nice = 0 }: { readonly within: readonly string[]; readonly nice?: number },
): ChildProcess {
  const script = `ulimit -n $(ulimit -H -n) && exec nice -n ${nice} "$@"`
  const path = join(import.meta.dirname, file)
  return spawn('sh', ['-c', script, 'sh', ...within, process.execPath, path, ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}
