/**
 * Runs nginx with a configuration that changes: proves each one, replaces the file at once and
 * reloads, which drops no request. nginx is a child, or runs elsewhere and has a pid file.
 * @module
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import type { Sleep } from '../../cluster/api/backoff.ts'
import { TokenBucket } from '../../cluster/api/token-bucket.ts'
import { errorCode } from '../../dns/bytes/unknown.ts'
import { writeWholeFile } from '../../server/node/whole-file.ts'
import { digestSocket, type NginxConfig, pidFile } from './nginx-config.ts'

/** Options of nginx. */
type NginxProcessOptions = {
  /** The program, such as `nginx`. */
  readonly program: string
  /** Absolute; created if it is missing. The configuration is `nginx.conf` in it. */
  readonly folder: string
  /**
   * Whether nginx runs elsewhere with this configuration: it is reloaded and never started. Without
   * the program here, its reload alone proves a configuration.
   */
  readonly isAttached: boolean
  readonly onError: (message: string) => void
  /** Called when a child has ended by itself. */
  readonly onExit: () => void
  readonly sleep: Sleep
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number
}

/**
 * Bounds of reloads: one leaves the workers of before for as long as a client holds a WebSocket, at
 * most 5 minutes. So at most 40 generations of workers run.
 */
const RELOADS_PER_SECOND = 0.1
const RELOADS_BURST = 10
/** Longest time of `nginx -t`. */
const PROOF_MS = 20_000
/** Longest time until nginx runs with a new configuration, and until it has ended. */
const TAKE_MS = 20_000
const POLL_MS = 20
/** nginx's workers of before take requests for 100 ms after the new ones have started. */
const SETTLE_MS = 200
const ASK_MS = 1000
/** Most bytes of the output of `nginx -t`, and most characters of a message. */
const OUTPUT_BYTES_MAX = 65_536
const MESSAGE_CHARS_MAX = 300

/** nginx and its configuration. */
export class Nginx {
  private readonly options: NginxProcessOptions
  private readonly path: string
  private readonly reloads: TokenBucket
  private child: ChildProcess | undefined
  /** The text that nginx ran with when it was last asked. */
  private taken: string | undefined
  /** Aborted when a child has ended: its start need not wait. */
  private ended = new AbortController()
  private isStopping = false

  constructor(options: NginxProcessOptions) {
    this.options = options
    this.path = `${options.folder}/nginx.conf`
    this.reloads = new TokenBucket(RELOADS_PER_SECOND, RELOADS_BURST, options.elapsed)
    mkdirSync(options.folder, { recursive: true, mode: 0o755 })
  }

  /** Whether nginx runs elsewhere. */
  get isAttached(): boolean {
    return this.options.isAttached
  }

  /** Starts nginx with the configuration of the last run, if there is one that it takes. */
  async resume(signal: AbortSignal): Promise<void> {
    const text = this.present()
    if (text === undefined || this.isAttached || (await this.digest()) !== undefined) return
    if ((await this.refusalOf(this.path)) === undefined) this.start()
    await this.options.sleep(POLL_MS, signal)
  }

  /** Waits until nginx may be reloaded, or has ended. */
  async ready(signal: AbortSignal): Promise<void> {
    const delayMs = this.reloads.delayMs()
    const isOver = AbortSignal.any([signal, this.ended.signal])
    if (delayMs > 0) await this.options.sleep(delayMs, isOver)
  }

  /**
   * Makes nginx run with a configuration. If nginx refuses it, the configuration before stays.
   * @returns what is wrong; `undefined` when nginx runs with it
   */
  async take({ text, digest }: NginxConfig, signal: AbortSignal): Promise<string | undefined> {
    const before = this.present()
    const running = await this.digest()
    if (running === digest && before === text) return undefined
    if (running !== undefined) this.taken = before
    // An nginx that runs elsewhere restarts with its file, which must stay one that it took.
    else if (this.isAttached && before !== undefined && before === this.taken) return this.start()
    const refusal = await this.replace(text)
    if (refusal !== undefined) return refusal
    // A busy nginx may not answer; a second one could not listen.
    const isGone = running === undefined && this.child === undefined
    const problem = isGone ? this.start() : this.reload()
    if (problem !== undefined) return problem
    if ((await this.runsWith(digest, signal)) || signal.aborted) {
      this.taken = text
      return undefined
    }
    // What it runs with and what the file has must not differ: nginx may restart.
    const kept = before === undefined ? undefined : await this.replace(before)
    return kept ?? 'nginx does not run with it; its error log says why'
  }

  /** Ends nginx once it has served the requests that it has begun; one that is attached stays. */
  async stop(): Promise<void> {
    this.isStopping = true
    // Without an nginx, the number in its pid file may be that of another process.
    const isGone = this.child === undefined && (await this.digest()) === undefined
    if (this.isAttached || isGone) return
    const isOver = AbortSignal.timeout(TAKE_MS)
    const problem = this.signal('SIGQUIT')
    while (problem === undefined && !isOver.aborted && this.pid() !== undefined) {
      await this.options.sleep(POLL_MS, isOver)
    }
    if (this.child !== undefined) killGroup(this.child)
  }

  private present(): string | undefined {
    try {
      return readFileSync(this.path, 'utf8')
    } catch {
      return undefined
    }
  }

  /** Replaces the file if nginx accepts the new one. Returns what is wrong. */
  private async replace(text: string): Promise<string | undefined> {
    let refusal: string | undefined
    const place = async (candidate: string): Promise<void> => {
      refusal = await this.refusalOf(candidate)
      if (refusal === undefined) renameSync(candidate, this.path)
      else rmSync(candidate)
    }
    try {
      await writeWholeFile(this.path, text, { mode: 0o644, place })
      return refusal
    } catch (error) {
      return `cannot write ${this.path}: ${errorCode(error)}`
    }
  }

  /** Returns why `nginx -t` refuses a file. */
  private refusalOf(path: string): Promise<string | undefined> {
    const { program, folder } = this.options
    const limits = { timeout: PROOF_MS, maxBuffer: OUTPUT_BYTES_MAX }
    return new Promise((resolve) => {
      execFile(program, ['-t', '-q', '-p', folder, '-c', path], limits, (error, _, notes) => {
        const isElsewhere = this.isAttached && errorCode(error) === 'ENOENT'
        if (error === null || isElsewhere) return resolve(undefined)
        const lines = notes.split('\n').filter((line) => /\[(?:emerg|alert|crit)\]/.test(line))
        const reason = (lines[0] ?? notes.trim()) || `${program}: ${errorCode(error)}`
        resolve(reason.replaceAll(path, 'the configuration').slice(0, MESSAGE_CHARS_MAX))
      })
    })
  }

  private start(): string | undefined {
    const { program, folder, isAttached, onError, onExit } = this.options
    if (isAttached) return `no nginx runs with ${this.path}`
    // One that was killed leaves its socket, and the next one could not listen on it.
    rmSync(digestSocket(folder), { force: true })
    const args = ['-p', folder, '-c', this.path, '-g', 'daemon off;']
    // A group of its own: Ctrl-C would make nginx drop requests, and its workers outlive it.
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'], detached: true })
    this.child = child
    this.ended = new AbortController()
    const forget = (): void => {
      if (this.child !== child) return
      this.child = undefined
      this.ended.abort()
    }
    child.once('error', (error) => {
      forget()
      onError(`cannot run ${program}: ${errorCode(error)}`)
    })
    child.once('exit', (code, by) => {
      forget()
      killGroup(child)
      if (this.isStopping) return
      onError(`nginx has ended: ${by ?? `status ${code}`}`)
      onExit()
    })
    return undefined
  }

  private reload(): string | undefined {
    this.reloads.take()
    return this.signal('SIGHUP')
  }

  private signal(name: NodeJS.Signals): string | undefined {
    const pid = this.pid()
    if (pid === undefined) return `no process of nginx in ${pidFile(this.options.folder)}`
    try {
      process.kill(pid, name)
      return undefined
    } catch (error) {
      return `cannot signal nginx: ${errorCode(error)}`
    }
  }

  /**
   * Returns the number of nginx's master process; nginx removes the file when it ends. A child that
   * has not written it yet would die of a signal.
   */
  private pid(): number | undefined {
    try {
      const text = readFileSync(pidFile(this.options.folder), 'utf8').trim()
      const pid = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined
      return this.child === undefined || this.child.pid === pid ? pid : undefined
    } catch {
      return undefined
    }
  }

  private async runsWith(digest: string, signal: AbortSignal): Promise<boolean> {
    const isOver = AbortSignal.any([signal, AbortSignal.timeout(TAKE_MS)])
    let isSettled = false
    while (!isOver.aborted) {
      if ((await this.digest()) === digest) {
        if (isSettled) return true
        isSettled = true
        await this.options.sleep(SETTLE_MS, isOver)
      } else await this.options.sleep(POLL_MS, isOver)
    }
    return false
  }

  /** Asks nginx for the digest of its configuration; `undefined` if none answers. */
  digest(): Promise<string | undefined> {
    const { folder } = this.options
    const limits = { agent: false, signal: AbortSignal.timeout(ASK_MS) } as const
    return new Promise((resolve) => {
      const sent = request({ socketPath: digestSocket(folder), ...limits })
      sent.on('error', () => resolve(undefined))
      sent.on('response', (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text = `${text}${chunk}`.slice(0, MESSAGE_CHARS_MAX)
        })
        response.on('close', () => resolve(text))
      })
      sent.end()
    })
  }
}

/** Kills what is left of a child and its workers, which hold its ports. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // All have ended.
  }
}
