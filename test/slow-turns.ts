/**
 * The turns of event loops that servers of a suite report (`src/server/node/loop-watch.ts`): one
 * that keeps queries waiting fails the suite.
 * @module
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** CPU time of a turn, without garbage collections, that fails a suite, in milliseconds. */
const SLOW_TURN_MS = 50
/**
 * The same of a turn in which no function of the project took most of the time, or Node's modules
 * for HTTP and TLS did: it has the events of all sockets that are ready, a thousand in a flood, and
 * what Node does to open, read and close each.
 */
const MANY_EVENTS_MS = 250
const NODES_SOCKETS = /\((core|_http_server|wrap|node:net|net):\d+\)/
/** The watch itself: it runs after the turn that it reports, and its time is not in the turn's. */
const WATCH = /\blook \(loop-watch\.ts:\d+\)/
/** Reports that are printed. */
const PRINTED_MAX = 10

/** A report, as a server appends it to the file. */
type Report = {
  readonly program: string
  readonly threadId: number
  readonly cpuMs: number
  readonly gcMs: number
  readonly ran: string
}

/** Has all programs that this process starts from now on report to a file. Returns its path. */
export function reportSlowTurns(): string {
  const path = join(tmpdir(), `kubedoh-slow-turns-${process.pid}`)
  process.env.KUBEDOH_SLOW_TURNS = path
  return path
}

/**
 * Reads the reports, and removes their file. Returns lines to print, and the number of
 * failures.
 */
export function readSlowTurns(path: string): { readonly lines: string[]; readonly failed: number } {
  if (!existsSync(path)) return { lines: [], failed: 0 }
  const text = readFileSync(path, 'utf8').trim()
  rmSync(path)
  if (text === '') return { lines: [], failed: 0 }
  const reports = text.split('\n').map((line): Report => JSON.parse(line))
  const worst = reports.toSorted((a, b) => ownMs(b) - ownMs(a))
  const failures = worst.filter(isFailure)
  const longestGcMs = Math.max(...reports.map(({ gcMs }) => gcMs))
  const shown = failures.length > 0 ? failures.slice(0, PRINTED_MAX) : worst.slice(0, 1)
  return {
    lines: [
      `event loops: ${reports.length} turns over 10 ms of CPU time, ${failures.length} over ` +
        `${SLOW_TURN_MS} that fail; longest garbage collection ${longestGcMs} ms`,
      ...shown.map(describe),
    ],
    failed: failures.length > 0 ? 1 : 0,
  }
}

/** The exporter answers no queries: its turns are printed only. */
function isFailure(report: Report): boolean {
  const isOthers = NODES_SOCKETS.test(report.ran) || WATCH.test(report.ran)
  const isOwn = /\.ts:\d+/.test(report.ran) && !isOthers
  const msMax = isOwn ? SLOW_TURN_MS : MANY_EVENTS_MS
  return ownMs(report) > msMax && !report.program.startsWith('export')
}

function ownMs({ cpuMs, gcMs }: Report): number {
  return cpuMs - gcMs
}

function describe(report: Report): string {
  const { program, threadId, gcMs, ran } = report
  const what = isFailure(report) ? 'FAILED slow turn' : 'slowest turn'
  const thread = threadId === 0 ? '' : `, thread ${threadId}`
  const [command] = program.split(' ')
  return `${what}: ${ownMs(report).toFixed(1)} ms and ${gcMs} ms of garbage collection in ${command}${thread}: ${ran}`
}
