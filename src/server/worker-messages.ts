/**
 * What the main thread of `kubedoh serve --workers` and its workers say to each other. All are of
 * one version: messages are told by their kind.
 * @module
 */

import type { LoadedCorefile } from '../node/load-corefile.ts'
import type { ServeOptions } from './server.ts'
import type { SharedSnapshot } from './shared-snapshots.ts'

/** What a worker may be asked for. */
export type Asked = 'metrics' | 'not-ready'

/** To a worker. */
export type ToWorker =
  /** What is known of a cluster: before the Corefile that needs it, and whenever it changes. */
  | { readonly kind: 'snapshot'; readonly cluster: string; readonly snapshot: SharedSnapshot }
  | { readonly kind: 'serve'; readonly options: ServeOptions; readonly corefile: LoadedCorefile }
  | { readonly kind: 'ask'; readonly id: number; readonly what: Asked }
  | { readonly kind: 'stop' }

/** From a worker. */
export type FromWorker =
  /** It serves what it was told to serve. */
  | { readonly kind: 'serves'; readonly ports: readonly number[] }
  /** Why it cannot, in one line or more; what it served before it serves on. */
  | { readonly kind: 'refuses'; readonly message: string }
  /** What was asked for: the text of metrics, or names of plugins. */
  | { readonly kind: 'told'; readonly id: number; readonly lines: readonly string[] }
  /** A plugin wants the process to end. */
  | { readonly kind: 'abort'; readonly message: string }

const TO_WORKER: ReadonlySet<unknown> = new Set(['snapshot', 'serve', 'ask', 'stop'])
const FROM_WORKER: ReadonlySet<unknown> = new Set(['serves', 'refuses', 'told', 'abort'])

/** Tells whether a message is one to a worker. */
export function isToWorker(message: unknown): message is ToWorker {
  return TO_WORKER.has(kindOf(message))
}

/** Tells whether a message is one from a worker. */
export function isFromWorker(message: unknown): message is FromWorker {
  return FROM_WORKER.has(kindOf(message))
}

function kindOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'kind' in message
    ? message.kind
    : undefined
}
