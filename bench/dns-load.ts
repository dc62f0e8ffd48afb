/**
 * Load on a DNS server by dnsperf, and what it costs the server.
 * @module
 */
import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cpuUs } from './gateway-load.ts'
import { BUNDLES } from './places.ts'
import type { DnsProcess } from './server-processes.ts'

/** A load: the file of its queries, and how long it lasts. */
export type Load = {
  readonly queries: string
  readonly seconds: number
  readonly protocol?: 'udp' | 'tcp'
}

/** What a load has cost; NaN where dnsperf reported nothing. */
export type LoadResult = { readonly cpuUs: number; readonly perSecond: number }

/** Percentiles of the time to an answer, in milliseconds. */
export type Latency = { readonly p50: number; readonly p99: number; readonly p999: number }

/** Share of lost queries above which a line is printed: a busy machine's client drops some. */
const LOST_SHARE_MAX = 0.001
/** Time that dnsperf gets beyond its load: it waits 5 s for the last responses. */
const GRACE_MS = 10_000

/** Sends as many queries as the server answers; resolves with its CPU time for one. */
export async function saturate(server: DnsProcess, load: Load): Promise<LoadResult> {
  const { protocol = 'udp', queries, seconds } = load
  const beforeUs = cpuUs(server.pid)
  const flags = ['-m', protocol, '-d', queries, '-l', String(seconds), '-c', '8', '-q', '200']
  const text = await dnsperf(server, { flags, seconds })
  const count = numberAfter(text, 'Queries completed')
  const sent = numberAfter(text, 'Queries sent')
  if (!(sent - count <= sent * LOST_SHARE_MAX)) {
    process.stderr.write(`${server.name} answered ${count} of ${sent} queries over ${protocol}\n`)
  }
  const perSecond = numberAfter(text, 'Queries per second')
  return { cpuUs: (cpuUs(server.pid) - beforeUs) / count, perSecond }
}

/** Sends so many queries a second; resolves with percentiles of the time to an answer. */
export async function pace(server: DnsProcess, load: Load, perSecond: number): Promise<Latency> {
  const output = join(BUNDLES, `paced-${server.port}`)
  const { queries, seconds } = load
  const flags = ['-d', queries, '-l', String(seconds), '-Q', String(perSecond), '-c', '8', '-v']
  await dnsperf(server, { flags: [...flags, '-q', '5000'], seconds, output })
  const text = readFileSync(output, 'latin1')
  const times = Array.from(text.matchAll(/^> \S+ \S+ \S+ ([\d.]+)$/gm), ([, s]) => 1000 * Number(s))
  return percentiles(times)
}

/** Returns percentiles of times. */
export function percentiles(times: readonly number[]): Latency {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number): number => sorted[Math.ceil(part * sorted.length) - 1] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999) }
}

type Dnsperf = {
  readonly flags: readonly string[]
  readonly seconds: number
  /** File for its output. */
  readonly output?: string
}

/**
 * Runs dnsperf, above the priority of what shares its core. Kills it when it does not end in time:
 * over TCP it can wait for a connection without a limit. Resolves with its output.
 */
function dnsperf({ name, port }: DnsProcess, { flags, seconds, output }: Dnsperf): Promise<string> {
  const file = output === undefined ? undefined : openSync(output, 'w')
  const args = ['-n', '-5', 'dnsperf', '-s', '127.0.0.1', '-p', String(port), '-t', '2', ...flags]
  const child = spawn('nice', args, { stdio: ['ignore', file ?? 'pipe', 'ignore'] })
  if (file !== undefined) closeSync(file)
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), 1000 * seconds + GRACE_MS)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status, signal) => {
      clearTimeout(timer)
      if (status !== 0) {
        const ended = `dnsperf against ${name} ended with ${status ?? signal}`
        process.stderr.write(`${ended}:\n${text.slice(-500)}\n`)
      }
      resolve(text)
    })
  })
}

function numberAfter(text: string, label: string): number {
  const found = new RegExp(`${label}:\\s+([\\d.]+)`).exec(text)
  return Number(found?.[1] ?? Number.NaN)
}
