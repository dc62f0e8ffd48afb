/**
 * Requests to a server in another process by `h2load`, and what they cost it.
 * @module
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeBase64url } from '../src/dns/bytes/base64url.ts'

/** How to ask. */
export type Asking = {
  readonly url: string
  /** Messages, asked in turn by GET; by POST the first alone. */
  readonly messages: readonly Uint8Array[]
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  /** Streams of each connection of HTTP/2, 16 by default. */
  readonly streams?: number
}

/** Connections that a load has. */
export const CONNECTIONS = 8
const STREAMS = 16
const LOAD_MS_MAX = 60_000

/** Finds or installs h2load; says what is missing when it cannot be had. */
export function prepareLoad(): string | undefined {
  const isThere = (): boolean => spawnSync('h2load', ['--version']).status === 0
  if (isThere()) return undefined
  if (process.getuid?.() === 0) {
    spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'nghttp2-client'])
  }
  return isThere() ? undefined : 'h2load is missing: install nghttp2-client'
}

/**
 * CPU time that a process has used, in microseconds: the nanoseconds that Linux counts for each of
 * its threads. Lacks threads that have ended, and keeps what short phases lose to `/proc/PID/stat`.
 */
export function cpuUs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.reduce((sum, thread) => {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
    return sum + Number(nanoseconds) / 1000
  }, 0)
}

/** Sends so many requests and resolves with the server's CPU time for one, in microseconds. */
export async function costOf(pid: number, asking: Asking, count: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-load-'))
  try {
    const beforeUs = cpuUs(pid)
    const output = await runLoad([...flagsOf(asking, folder), '-n', String(count)])
    const [, done = '0'] = /(\d+) 2xx/.exec(output) ?? []
    if (Number(done) !== count) throw new Error(`${done} of ${count} requests were answered`)
    return (cpuUs(pid) - beforeUs) / count
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function flagsOf(asking: Asking, folder: string): string[] {
  const { url, messages, method, headers, streams = STREAMS } = asking
  const isSecure = url.startsWith('https:')
  const protocol = isSecure ? ['-m', String(streams)] : ['--h1']
  const flags = [...protocol, '-c', String(CONNECTIONS), '-t', '1']
  for (const [name, value] of Object.entries(headers)) flags.push('-H', `${name}: ${value}`)
  if (method === 'GET') {
    const urls = messages.map((message) => `${url}/dns-query?dns=${encodeBase64url(message)}\n`)
    writeFileSync(join(folder, 'urls'), urls.join(''))
    return [...flags, '-i', join(folder, 'urls')]
  }
  writeFileSync(join(folder, 'body'), messages[0] ?? new Uint8Array(0))
  const type = 'content-type: application/dns-message'
  return [...flags, '-d', join(folder, 'body'), '-H', type, `${url}/dns-query`]
}

function runLoad(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('h2load', args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    // Responses that never come: what was answered so far is reported.
    const timer = setTimeout(() => child.kill('SIGKILL'), LOAD_MS_MAX)
    child.on('error', reject)
    child.on('close', () => {
      clearTimeout(timer)
      resolve(output)
    })
  })
}
