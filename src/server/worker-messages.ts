/**
 * Messages between the main thread of `kubedoh serve --workers` and its workers. Both run the same
 * version, so the kind alone identifies a message.
 * @module
 */

import type { LoadedCorefile } from '../node/load-corefile.ts'
import type { ServeOptions } from './server.ts'
import type { SharedSnapshot } from './shared-snapshots.ts'

/** What the main thread queries a worker for. */
export type WorkerQuery = 'metrics' | 'not-ready'

/** A message to a worker. */
export type ToWorker =
  /** The state of a cluster: before the Corefile that needs it, and after each change. */
  | { readonly kind: 'snapshot'; readonly cluster: string; readonly snapshot: SharedSnapshot }
  | { readonly kind: 'serve'; readonly options: ServeOptions; readonly corefile: LoadedCorefile }
  | { readonly kind: 'query'; readonly id: number; readonly what: WorkerQuery }
  | { readonly kind: 'stop' }

/** A message from a worker. */
export type FromWorker =
  /** The worker serves the Corefile. */
  | { readonly kind: 'serving'; readonly ports: readonly number[] }
  /** The worker cannot serve the Corefile, and keeps the previous one. */
  | { readonly kind: 'failed'; readonly message: string }
  /** Answers a query: the text of metrics, or names of plugins. */
  | { readonly kind: 'reply'; readonly id: number; readonly lines: readonly string[] }
  /** A plugin requests the end of the process. */
  | { readonly kind: 'abort'; readonly message: string }

const TO_WORKER: ReadonlySet<unknown> = new Set(['snapshot', 'serve', 'query', 'stop'])
const FROM_WORKER: ReadonlySet<unknown> = new Set(['serving', 'failed', 'reply', 'abort'])

/** Returns whether a message is one to a worker. */
export function isToWorker(message: unknown): message is ToWorker {
  return TO_WORKER.has(kindOf(message))
}

/** Returns whether a message is one from a worker. */
export function isFromWorker(message: unknown): message is FromWorker {
  return FROM_WORKER.has(kindOf(message))
}

function kindOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'kind' in message
    ? message.kind
    : undefined
}
