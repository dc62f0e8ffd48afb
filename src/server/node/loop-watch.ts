/**
 * Reports turns of the event loop that keep queries waiting: with the variable
 * `KUBEDOH_SLOW_TURNS`, each turn of more than 10 ms of the thread's CPU time is reported with what
 * ran. CPU time, because other processes must not count.
 * @module
 */
import { appendFileSync } from 'node:fs'
import type { Profiler, Session } from 'node:inspector'
import { basename } from 'node:path'
import { threadId } from 'node:worker_threads'
import type { Log } from '../../dns/telemetry/log.ts'

/** CPU time of a turn, in milliseconds, above which it is reported. */
const SLOW_MS = 10
/** Interval of the samples that show what ran. */
const SAMPLE_MICROSECONDS = 1000
/** Age at which the samples are dropped: to read a thousand of them takes 0.1 ms. */
const SAMPLES_MS_MAX = 10_000
/** Functions of a reported stack. */
const STACK_MAX = 6

type Inspector = Pick<typeof import('node:inspector'), 'Session' | 'console'>

/** A turn of the event loop. Times are in milliseconds of CPU time. */
type SlowTurn = {
  /** Time of the whole turn, with garbage collections. */
  readonly cpuMs: number
  /** Time of garbage collections in it. */
  readonly gcMs: number
  /** The functions in which most of the other time passed, from the outermost to the innermost. */
  readonly ran: string
}

/**
 * Starts to report slow turns of this thread's event loop: `where` is `log` for the log, else the
 * path of a file to which each report is appended as a line of JSON; one that cannot be written
 * goes to the log. Does nothing for '', on Node before 23.9, which cannot measure a thread, and on
 * Bun and Deno: on Bun 1.4, an immediate keeps the loop busy. Takes some per cent of CPU time.
 * @returns a function that ends the reports
 */
export async function watchLoop(where: string, log: Log): Promise<() => void> {
  const isNode = process.versions.bun === undefined && !('Deno' in globalThis)
  const canMeasure = isNode && typeof process.threadCpuUsage === 'function'
  if (where === '' || !canMeasure) return () => undefined
  const sampler = new Sampler(await import('node:inspector'))
  const report = where === 'log' ? logTo(log) : appendTo(where, log)
  let cpuMs = threadCpuMs()
  let wallMs = performance.now()
  // Runs once in each turn: an unreferenced immediate neither keeps the loop busy nor alive.
  const look = (): void => {
    const turnMs = threadCpuMs() - cpuMs
    const nowMs = performance.now()
    if (turnMs > SLOW_MS) report({ cpuMs: round(turnMs), ...sampler.last(nowMs - wallMs, turnMs) })
    else if (nowMs - sampler.startedMs > SAMPLES_MS_MAX) sampler.restart()
    cpuMs = threadCpuMs()
    wallMs = performance.now()
    next = setImmediate(look).unref()
  }
  let next = setImmediate(look).unref()
  return () => {
    clearImmediate(next)
    sampler.stop()
  }
}

function logTo(log: Log): (turn: SlowTurn) => void {
  return (turn) => log({ level: 'warning', message: 'a turn of the event loop was slow', ...turn })
}

/** Appends lines, with the command and the thread. */
function appendTo(path: string, log: Log): (turn: SlowTurn) => void {
  const program = process.argv.slice(2).join(' ')
  const instead = logTo(log)
  return (turn) => {
    try {
      appendFileSync(path, `${JSON.stringify({ program, threadId, ...turn })}\n`)
    } catch {
      instead(turn)
    }
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/**
 * Samples the stack of this thread by V8's profiler. A profile starts before the one before ends:
 * the first of several takes 40 ms, in which V8 lists the compiled functions.
 */
class Sampler {
  startedMs = 0
  private readonly session: Session
  private readonly console: Inspector['console']
  private profiles = 0
  private ended: Profiler.Profile | undefined

  constructor({ Session: Inspected, console }: Inspector) {
    const session = new Inspected()
    this.session = session
    this.console = console
    session.connect()
    session.post('Profiler.enable')
    session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROSECONDS })
    session.on('Profiler.consoleProfileFinished', ({ params }) => {
      this.ended = params.profile
    })
    this.start()
  }

  /** Drops the samples so far. */
  restart(): void {
    this.start()
    this.console.profileEnd(titleOf(this.profiles - 1))
  }

  stop(): void {
    this.session.disconnect()
  }

  /** Returns what ran in the last `wallMs` milliseconds, and restarts. */
  last(wallMs: number, cpuMs: number): Omit<SlowTurn, 'cpuMs'> {
    this.restart()
    const { ended } = this
    this.ended = undefined
    return ended === undefined ? { gcMs: 0, ran: '' } : whatRan(ended, { wallMs, cpuMs })
  }

  private start(): void {
    this.profiles++
    this.console.profile(titleOf(this.profiles))
    this.startedMs = performance.now()
  }
}

function titleOf(profile: number): string {
  return `kubedoh ${profile}`
}

/** Returns what the samples of the last milliseconds of a profile show. */
export function whatRan(
  { nodes, samples = [], timeDeltas = [] }: Profiler.Profile,
  { wallMs, cpuMs }: { readonly wallMs: number; readonly cpuMs: number },
): Omit<SlowTurn, 'cpuMs'> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((c) => [c, id])))
  const counts = new Map<number, number>()
  let left = 1000 * wallMs
  let running = 0
  let collecting = 0
  for (let i = samples.length - 1; i >= 0 && left > 0; left -= timeDeltas[i] ?? 0, i--) {
    let id = samples[i]
    const name = id === undefined ? '' : byId.get(id)?.callFrame.functionName
    if (name === '(garbage collector)') collecting++
    if (name?.startsWith('(')) continue
    running++
    for (; id !== undefined; id = parents.get(id)) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  const gcMs = round((cpuMs * collecting) / Math.max(1, running + collecting))
  const stack: string[] = []
  let [node] = nodes
  while (node !== undefined) {
    const children: Profiler.ProfileNode[] = (node.children ?? []).flatMap((c) => byId.get(c) ?? [])
    const countOf = ({ id }: Profiler.ProfileNode): number => counts.get(id) ?? 0
    const [most] = children.toSorted((a, b) => countOf(b) - countOf(a))
    if (most === undefined || running === 0 || 2 * countOf(most) < running) break
    stack.push(describe(most.callFrame))
    node = most
  }
  return { gcMs, ran: stack.slice(-STACK_MAX).join(' > ') }
}

function describe({ functionName, url, lineNumber }: Profiler.ProfileNode['callFrame']): string {
  const name = functionName === '' ? 'anonymous' : functionName
  return url === '' ? name : `${name} (${basename(url)}:${lineNumber + 1})`
}

function round(ms: number): number {
  return Math.round(10 * ms) / 10
}
