/**
 * A worker of `kubedoh serve --workers`: one of several threads that serve the same ports, with
 * the Corefile and the snapshots that the main thread gives it.
 * @module
 */
import { isMainThread, parentPort } from 'node:worker_threads'
import type { LoadedCorefile } from '../node/load-corefile.ts'
import { describeError } from '../node/output.ts'
import { type ServeOptions, Server } from './server.ts'
import { SharedClusters } from './shared-snapshots.ts'
import { type Asked, type FromWorker, isToWorker, type ToWorker } from './worker-messages.ts'

/** A worker. */
export class ServeWorker {
  private readonly say: (message: FromWorker) => void
  private readonly clusters = new SharedClusters()
  private server: Server | undefined
  /** Corefiles are taken up one after the other. */
  private served: Promise<void> = Promise.resolve()

  /** @param say tells the main thread */
  constructor(say: (message: FromWorker) => void) {
    this.say = say
  }

  /** Does what the main thread says; resolves when that is done. */
  async hear(message: ToWorker): Promise<void> {
    switch (message.kind) {
      case 'snapshot':
        this.clusters.take(message.cluster, message.snapshot)
        return
      case 'serve':
        this.served = this.served.then(() => this.serve(message.options, message.corefile))
        await this.served
        return
      case 'ask':
        this.say({ kind: 'told', id: message.id, lines: this.tell(message.what) })
        return
      case 'stop':
        await this.stop()
        return
    }
  }

  private async stop(): Promise<void> {
    const { server } = this
    this.server = undefined
    await server?.close()
  }

  private async serve(options: ServeOptions, corefile: LoadedCorefile): Promise<void> {
    try {
      if (this.server === undefined) {
        const server = new Server(options, process, {
          clusters: this.clusters,
          abort: (message) => this.say({ kind: 'abort', message }),
        })
        this.server = server
        await server.start(corefile)
      } else await this.server.take(corefile)
      this.say({ kind: 'serves', ports: this.server.ports })
    } catch (error) {
      this.say({ kind: 'refuses', message: describeError(error).replace(/^kubedoh: /, '') })
    }
  }

  private tell(what: Asked): readonly string[] {
    const { server } = this
    if (server === undefined) return what === 'metrics' ? [] : ['starting']
    return what === 'metrics' ? [server.formatMetrics()] : server.notReady()
  }
}

if (!isMainThread && parentPort !== null) {
  const port = parentPort
  const worker = new ServeWorker((message) => {
    port.postMessage(message)
  })
  port.on('message', (message) => {
    if (!isToWorker(message)) return
    void worker.hear(message).then(() => {
      if (message.kind === 'stop') port.close()
    })
  })
}
