/**
 * A thread of `kubedoh serve --workers`, as the main thread sees it.
 * @module
 */
import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { errorText } from '../bytes/unknown.ts'
import type { LoadedCorefile } from '../node/load-corefile.ts'
import type { Output } from '../node/output.ts'
import type { ServeOptions } from './server.ts'
import type { SharedSnapshot } from './shared-snapshots.ts'
import { type Asked, type FromWorker, isFromWorker, type ToWorker } from './worker-messages.ts'

/** Whether a worker serves what it was told to, and where. */
export type Served = Extract<FromWorker, { kind: 'serves' | 'refuses' }>

/** How long a worker may take to tell what it is asked, and to end when it is told to. */
const ASK_MS = 2000
const STOP_MS = 5000
const ENTRY = join(import.meta.dirname, `serve-worker${extname(import.meta.filename)}`)

/** A thread that runs. */
export class WorkerThread {
  /** Resolves with why, when it is gone. */
  readonly ended: Promise<string>
  /** The metrics that it told last. */
  lastMetrics = ''
  private readonly worker: Worker
  private readonly onAbort: (message: string) => void
  private readonly asked = new Map<number, (lines: readonly string[] | undefined) => void>()
  /** Who waits for Corefiles to be served, in their order. */
  private readonly waiting: ((served: Served) => void)[] = []
  private lastId = 0

  /** @param entry the module that it runs */
  constructor(
    { stdout, stderr }: Output,
    { entry = ENTRY, onAbort }: { entry?: string; onAbort: (message: string) => void },
  ) {
    this.onAbort = onAbort
    this.worker = new Worker(entry, { stdout: true, stderr: true })
    this.worker.stdout.pipe(stdout, { end: false })
    this.worker.stderr.pipe(stderr, { end: false })
    let reason: string | undefined
    this.ended = new Promise((resolve) => {
      this.worker.on('error', (error) => {
        reason = errorText(error)
      })
      this.worker.once('exit', (status) => resolve(reason ?? `status ${status}`))
    })
    this.worker.on('message', (message) => {
      if (isFromWorker(message)) this.hear(message)
    })
  }

  /** Gives it what is known of a cluster. */
  share(cluster: string, snapshot: SharedSnapshot): void {
    this.say({ kind: 'snapshot', cluster, snapshot })
  }

  /** Has it serve a Corefile; resolves when it does, or cannot. Never throws. */
  serve(options: ServeOptions, corefile: LoadedCorefile): Promise<Served> {
    const served = new Promise<Served>((resolve) => {
      this.waiting.push(resolve)
    })
    this.say({ kind: 'serve', options, corefile })
    const gone = this.ended.then((reason): Served => {
      return { kind: 'refuses', message: `a worker ended: ${reason}` }
    })
    return Promise.race([served, gone])
  }

  /** All metrics that it has, as text; those that it told last, where it does not tell. */
  async metrics(): Promise<string> {
    const lines = await this.ask('metrics')
    if (lines !== undefined) this.lastMetrics = lines.join('')
    return this.lastMetrics
  }

  /** Names of the plugins that it waits for; `worker` where it does not tell. */
  async notReady(): Promise<readonly string[]> {
    return (await this.ask('not-ready')) ?? ['worker']
  }

  /** Ends it; resolves when it is gone. */
  async stop(): Promise<void> {
    this.say({ kind: 'stop' })
    const timer = setTimeout(() => void this.worker.terminate(), STOP_MS)
    await this.ended
    clearTimeout(timer)
  }

  private say(message: ToWorker): void {
    this.worker.postMessage(message)
  }

  /** Resolves with `undefined` when it does not tell in time. */
  private ask(what: Asked): Promise<readonly string[] | undefined> {
    const id = ++this.lastId
    return new Promise((resolve) => {
      const timer = setTimeout(() => finish(undefined), ASK_MS)
      const finish = (lines: readonly string[] | undefined): void => {
        clearTimeout(timer)
        this.asked.delete(id)
        resolve(lines)
      }
      this.asked.set(id, finish)
      this.say({ kind: 'ask', id, what })
    })
  }

  private hear(message: FromWorker): void {
    switch (message.kind) {
      case 'serves':
      case 'refuses':
        this.waiting.shift()?.(message)
        return
      case 'told':
        this.asked.get(message.id)?.(message.lines)
        return
      case 'abort':
        this.onAbort(message.message)
        return
    }
  }
}
