/**
 * A worker of `kubedoh serve --workers`: one of several threads that serve the same ports. The main
 * thread sends it the Corefile and snapshots.
 * @module
 */

import type { LoadedCorefile } from '../node/load-corefile.ts'
import { watchLoop } from '../node/loop-watch.ts'
import { createLog, describeError, type Output } from '../node/output.ts'
import type { ServeOptions } from './serve-options.ts'
import { Server } from './server.ts'
import { SharedClusters } from './shared-snapshots.ts'
import {
  type FromWorker,
  type KnownState,
  runWorker,
  type ServiceWanted,
  type ToWorker,
  type WorkerQuery,
} from './worker-messages.ts'

/** Handles the messages of the main thread. */
export class ServeWorker {
  private readonly send: (message: FromWorker) => void
  private readonly output: Output
  private readonly clusters = new SharedClusters({ stateOf: (wanted) => this.stateOf(wanted) })
  /** Explanations that wait for the state of a Service. */
  private readonly waiting = new Map<number, (state: KnownState) => void>()
  private lastId = 0
  private server: Server | undefined
  /** Resolves when the last Corefile is applied: one at a time. */
  private served: Promise<void> = Promise.resolve()

  /** @param send sends a message to the main thread */
  constructor(send: (message: FromWorker) => void, output: Output) {
    this.send = send
    this.output = output
  }

  /** Handles a message; resolves when that is done. */
  async handle(message: ToWorker): Promise<void> {
    switch (message.kind) {
      case 'snapshot':
        this.clusters.update(message.cluster, message.snapshot)
        return
      case 'serve':
        this.served = this.served.then(() => this.serve(message.options, message.corefile))
        await this.served
        return
      case 'query':
        this.send({ kind: 'reply', id: message.id, lines: await this.answer(message.what) })
        return
      case 'state':
        this.waiting.get(message.id)?.(message.state)
        this.waiting.delete(message.id)
        return
      case 'stop':
        await this.stop()
        return
      case 'watch':
      case 'service':
        throw new TypeError('a worker that serves does not watch clusters')
    }
  }

  private stateOf(wanted: ServiceWanted): Promise<KnownState> {
    const id = ++this.lastId
    this.send({ kind: 'service', id, wanted })
    return new Promise((resolve) => this.waiting.set(id, resolve))
  }

  private async stop(): Promise<void> {
    const { server } = this
    this.server = undefined
    await server?.drain()
    await server?.close()
  }

  private async serve(options: ServeOptions, corefile: LoadedCorefile): Promise<void> {
    try {
      if (this.server === undefined) {
        const server = new Server(options, this.output, {
          clusters: this.clusters,
          abort: (message) => this.send({ kind: 'abort', message }),
        })
        this.server = server
        await server.start(corefile)
        void watchLoop(process.env.KUBEDOH_SLOW_TURNS ?? '', createLog(this.output))
      } else await this.server.apply(corefile)
      this.send({ kind: 'serving', ports: this.server.ports })
    } catch (error) {
      this.send({ kind: 'failed', message: describeError(error).replace(/^kubedoh: /, '') })
    }
  }

  private async answer(what: WorkerQuery): Promise<readonly string[]> {
    const { server } = this
    if (server === undefined) return what === 'metrics' ? [] : ['starting']
    return what === 'metrics' ? [await server.formatMetrics()] : server.notReady()
  }
}

runWorker((send, output) => new ServeWorker(send, output))
