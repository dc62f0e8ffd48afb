/**
 * Messages between the main thread of `kubedoh serve` and its workers: threads that serve
 * (`--workers`), and one that watches large clusters. Both sides run the same version, so the kind
 * alone identifies a message.
 * @module
 */

import { isMainThread, parentPort, workerData } from 'node:worker_threads'
import type { LogFormat } from '../../dns/telemetry/log.ts'
import type { ServiceState, SnapshotSource } from '../../resolver/contract/host.ts'
import type { SnapshotInfo } from '../../snapshot/read/snapshot.ts'
import type { LoadedCorefile } from '../node/load-corefile.ts'
import type { Output } from '../node/output.ts'
import type { ClusterSourceOptions } from './cluster-sources.ts'
import type { ClusterWanted } from './cluster-wanted.ts'
import type { ServeOptions } from './serve-options.ts'

/** The state of a cluster, as the thread that watches it sends it to the others. */
export type SharedSnapshot = {
  readonly freshness: ReturnType<SnapshotSource['freshness']>
  /** Absent before the first snapshot, and when it has not changed. */
  readonly snapshot?: SentSnapshot
}

/** A snapshot, or what has changed of it. */
export type SentSnapshot = {
  readonly info: SnapshotInfo
  readonly shardCount: number
  /** Whether shards that are absent are those of the previous state; if not, they are missing. */
  readonly isPatch: boolean
  /** Shards by index. */
  readonly changed: readonly (readonly [index: number, bytes: Uint8Array])[]
}

/** What a worker gets at its start. */
export type ThreadData = { readonly format: LogFormat | undefined }

/** What the main thread queries a worker for. */
export type WorkerQuery = 'metrics' | 'not-ready'

/** A Service of a cluster, which is given by its key. */
export type ServiceWanted = {
  readonly cluster: string
  readonly namespace: string
  readonly name: string
}

/** A query for a Service, to the thread that watches its cluster. */
type ServiceQuery = {
  readonly kind: 'service'
  readonly id: number
  readonly wanted: ServiceWanted
}

/** A Service; `null` if it does not exist, `undefined` if that is unknown. */
export type KnownState = ServiceState | null | undefined

/** Where a worker finds the clusters that it watches. */
export type WatchOptions = Pick<ClusterSourceOptions, 'kubeconfig' | 'folder' | 'localAddresses'> &
  Pick<ServeOptions, 'collector'>

/** A message to a worker. */
export type ToWorker =
  /** The state of a cluster: before the Corefile that needs it, and after each change. */
  | { readonly kind: 'snapshot'; readonly cluster: string; readonly snapshot: SharedSnapshot }
  | { readonly kind: 'serve'; readonly options: ServeOptions; readonly corefile: LoadedCorefile }
  /** The clusters to watch from now on, instead of the previous ones. */
  | {
      readonly kind: 'watch'
      readonly options: WatchOptions
      readonly clusters: readonly ClusterWanted[]
    }
  | { readonly kind: 'query'; readonly id: number; readonly what: WorkerQuery }
  | ServiceQuery
  /** Answers a worker's query for a Service. */
  | { readonly kind: 'state'; readonly id: number; readonly state: KnownState }
  | { readonly kind: 'stop' }

/** A message from a worker. */
export type FromWorker =
  /** The worker serves the Corefile, or has read the clusters as far as it could in time. */
  | { readonly kind: 'serving'; readonly ports: readonly number[] }
  /** The worker cannot do that, and goes on as before. */
  | { readonly kind: 'failed'; readonly message: string }
  /** Answers a query: the text of metrics, or names of plugins; or the state of a Service. */
  | {
      readonly kind: 'reply'
      readonly id: number
      readonly lines: readonly string[]
      readonly state?: KnownState
    }
  | ServiceQuery
  /** The state of a watched cluster, after each change. */
  | { readonly kind: 'watched'; readonly cluster: string; readonly snapshot: SharedSnapshot }
  /** A plugin requests the end of the process. */
  | { readonly kind: 'abort'; readonly message: string }

/** Handles the messages of the main thread; resolves when one is done. */
type MessageHandler = { readonly handle: (message: ToWorker) => Promise<void> }

/**
 * Runs a worker in this thread until the message `stop`. Does nothing in the main thread.
 * @param create gets a function that sends a message, whose `moved` buffers then belong to the main
 *   thread; and the streams, with the format of the main thread's log
 */
export function runWorker(
  create: (
    send: (message: FromWorker, moved?: ArrayBuffer[]) => void,
    output: Output,
  ) => MessageHandler,
): void {
  const port = parentPort
  if (isMainThread || port === null) return
  // The main thread is of the same version.
  const { format }: ThreadData = workerData
  const { stdout, stderr } = process
  const send = (message: FromWorker, moved: ArrayBuffer[] = []): void =>
    port.postMessage(message, moved)
  const worker = create(send, { stdout, stderr, format })
  port.on('message', (message: ToWorker) => {
    void worker.handle(message).then(() => {
      if (message.kind === 'stop') port.close()
    })
  })
}
