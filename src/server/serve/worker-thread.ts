/**
 * The main thread's side of a worker of `kubedoh serve`.
 * @module
 */

import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { errorText } from '../../dns/bytes/unknown.ts'
import type { MaybePromise } from '../../resolver/contract/maybe-promise.ts'
import type { LoadedCorefile } from '../node/load-corefile.ts'
import type { Output } from '../node/output.ts'
import type { ClusterWanted } from './cluster-wanted.ts'
import type { ServeOptions } from './serve-options.ts'
import type {
  FromWorker,
  KnownState,
  ServiceWanted,
  SharedSnapshot,
  ThreadData,
  ToWorker,
  WatchOptions,
} from './worker-messages.ts'

/** Whether a worker does what it was sent for, and the ports that it serves. */
export type Served = Extract<FromWorker, { kind: 'serving' | 'failed' }>

type Reply = Extract<FromWorker, { kind: 'reply' }>

/** Milliseconds for a worker to answer a query, and to stop. */
const QUERY_MS = 2000
const STOP_MS = 8000
/**
 * Interval at which a worker has to reply. After 5 missed replies, what it said last is stale;
 * after 30 it hangs, and is ended. Not a time: a machine that slept must not end its workers.
 */
const BEAT_MS = 2000
const STALE_BEATS = 5
const HUNG_BEATS = 30
/** Memory for new objects. Queries leave few, so this is 10 MB less than V8's default. */
const YOUNG_MB = 4
/** The same for a worker that builds: with less, the first build takes 1.5 times as long. */
const BUILD_YOUNG_MB = 24

/** Returns the path of a worker's module. */
export function workerEntry(name: 'serve-worker' | 'watch-worker'): string {
  return join(import.meta.dirname, `${name}${extname(import.meta.filename)}`)
}

type WorkerThreadOptions = {
  /** The module that the worker runs; default: one that serves. */
  readonly entry?: string
  /** Called when a plugin requests the end of the process. */
  readonly onAbort?: (message: string) => void
  /** Returns a Service of a cluster that the main thread watches; `undefined` if it is unknown. */
  readonly stateOf?: (wanted: ServiceWanted) => MaybePromise<KnownState>
  /** Called with each state of a cluster that the worker watches. */
  readonly onSnapshot?: (cluster: string, snapshot: SharedSnapshot) => void
}

/** A running worker. */
export class WorkerThread {
  /** Resolves with the reason when the worker exits. */
  readonly exited: Promise<string>
  /** The last metrics that the worker returned. */
  lastMetrics = ''
  /** The last result of `notReady`: at most a beat old, unless the worker is silent. */
  lastNotReady: readonly string[] = []
  private readonly worker: Worker
  private readonly options: WorkerThreadOptions
  private readonly queries = new Map<number, (reply: Reply | undefined) => void>()
  /** Callers of `serve` and `watch` that wait for the result, in order. */
  private readonly waiting: ((served: Served) => void)[] = []
  private lastId = 0
  private missedBeats = 0
  private readonly beats: NodeJS.Timeout

  constructor({ stdout, stderr, format }: Output, options: WorkerThreadOptions) {
    this.options = options
    const { entry = workerEntry('serve-worker') } = options
    const isBuilding = options.onSnapshot !== undefined
    const resourceLimits = { maxYoungGenerationSizeMb: isBuilding ? BUILD_YOUNG_MB : YOUNG_MB }
    this.worker = new Worker(entry, {
      stdout: true,
      stderr: true,
      resourceLimits,
      workerData: { format } satisfies ThreadData,
    })
    this.worker.stdout.pipe(stdout, { end: false })
    this.worker.stderr.pipe(stderr, { end: false })
    let reason: string | undefined
    this.exited = new Promise((resolve) => {
      this.worker.on('error', (error) => {
        reason = errorText(error)
      })
      this.worker.once('exit', (status) => resolve(reason ?? `status ${status}`))
    })
    this.worker.on('message', (message: FromWorker) => this.handle(message))
    this.beats = setInterval(() => {
      if (++this.missedBeats < HUNG_BEATS) void this.notReady()
      else {
        reason = `it has not replied for ${(HUNG_BEATS * BEAT_MS) / 1000} s`
        void this.worker.terminate()
      }
    }, BEAT_MS).unref()
    void this.exited.then(() => clearInterval(this.beats))
  }

  /** Whether the worker has not replied for ten seconds: what it sent last may be old. */
  get isSilent(): boolean {
    return this.missedBeats > STALE_BEATS
  }

  /** Sends the state of a cluster to the worker. */
  share(cluster: string, snapshot: SharedSnapshot): void {
    this.send({ kind: 'snapshot', cluster, snapshot })
  }

  /** Sends a Corefile to the worker; resolves when the worker serves it or fails. Never rejects. */
  serve(options: ServeOptions, corefile: LoadedCorefile): Promise<Served> {
    return this.request({ kind: 'serve', options, corefile })
  }

  /**
   * Makes the worker watch these clusters only. Resolves when the worker has read them, as far as
   * it can in time, or fails. Never rejects.
   */
  watch(options: WatchOptions, clusters: readonly ClusterWanted[]): Promise<Served> {
    return this.request({ kind: 'watch', options, clusters })
  }

  private request(message: ToWorker): Promise<Served> {
    const served = new Promise<Served>((resolve) => {
      this.waiting.push(resolve)
    })
    this.send(message)
    const gone = this.exited.then((reason): Served => {
      return { kind: 'failed', message: `a worker exited: ${reason}` }
    })
    return Promise.race([served, gone])
  }

  /** Returns the worker's metrics as text; the last known ones when it does not answer in time. */
  async metrics(): Promise<string> {
    const reply = await this.query((id) => ({ kind: 'query', id, what: 'metrics' }))
    if (reply !== undefined) this.lastMetrics = reply.lines.join('')
    return this.lastMetrics
  }

  /**
   * Returns the plugins that are not ready, or what a worker that watches clusters lacks; `worker`
   * when the worker does not answer in time.
   */
  async notReady(): Promise<readonly string[]> {
    const reply = await this.query((id) => ({ kind: 'query', id, what: 'not-ready' }))
    this.lastNotReady = reply?.lines ?? ['worker']
    return this.lastNotReady
  }

  /** Returns a Service of a watched cluster; `undefined` if the worker does not answer in time. */
  async serviceState(wanted: ServiceWanted): Promise<KnownState> {
    return (await this.query((id) => ({ kind: 'service', id, wanted })))?.state
  }

  /** Stops the worker, which may linger; resolves when it has exited. */
  async stop(lingerMs = 0): Promise<void> {
    this.send({ kind: 'stop' })
    const timer = setTimeout(() => void this.worker.terminate(), STOP_MS + lingerMs)
    await this.exited
    clearTimeout(timer)
  }

  private send(message: ToWorker): void {
    this.worker.postMessage(message)
  }

  /** Resolves with `undefined` when the worker does not answer in time. */
  private query(message: (id: number) => ToWorker): Promise<Reply | undefined> {
    const id = ++this.lastId
    return new Promise((resolve) => {
      const timer = setTimeout(() => finish(undefined), QUERY_MS)
      const finish = (reply: Reply | undefined): void => {
        clearTimeout(timer)
        this.queries.delete(id)
        resolve(reply)
      }
      this.queries.set(id, finish)
      this.send(message(id))
    })
  }

  private async answer(id: number, wanted: ServiceWanted): Promise<void> {
    this.send({ kind: 'state', id, state: await this.options.stateOf?.(wanted) })
  }

  private handle(message: FromWorker): void {
    this.missedBeats = 0
    switch (message.kind) {
      case 'serving':
      case 'failed':
        this.waiting.shift()?.(message)
        return
      case 'reply':
        this.queries.get(message.id)?.(message)
        return
      case 'service':
        void this.answer(message.id, message.wanted)
        return
      case 'watched':
        this.options.onSnapshot?.(message.cluster, message.snapshot)
        return
      case 'abort':
        this.options.onAbort?.(message.message)
        return
    }
  }
}
