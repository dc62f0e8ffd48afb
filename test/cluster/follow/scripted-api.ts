/**
 * An API server that answers as a test scripts it.
 * @module
 */
import { parse } from 'yaml'
import {
  ApiError,
  type Listed,
  type ObjectApi,
  type ObjectPage,
  type WatchOptions,
} from '../../../src/cluster/api/object-api.ts'

/** A watch that waits for what the test lets the server say. */
export type FakeWatch = {
  readonly resourceVersion: string
  readonly signal: AbortSignal
  readonly open: () => void
  /** Sends an event of so many bytes. */
  readonly send: (type: string, object: unknown, bytes?: number) => void
  readonly end: () => void
  readonly fail: (error: Error) => void
}

/** The server. */
export class ScriptedApi implements ObjectApi {
  /** What was asked for: `list RESOURCE [TOKEN]` and `watch RESOURCE VERSION`. */
  readonly calls: string[] = []
  /** Where that was asked for. */
  readonly paths: string[] = []
  readonly host: string = 'api.test:6443'
  /** Whether it streams lists; else it refuses that, which `calls` leaves out. */
  streams: boolean = false
  /** Bodies that it answers to other requests with, by method and path. */
  readonly replies: Map<string, unknown> = new Map()
  private readonly answers = new Map<string, (ObjectPage | ApiError)[]>()
  private readonly waiting = new Map<string, () => void>()
  private readonly watches = new Map<string, FakeWatch>()

  /** Adds answers to lists of a collection. A list that has none waits for one. */
  answer(resource: string, ...answers: readonly (ObjectPage | ApiError)[]): void {
    this.answers.set(resource, [...(this.answers.get(resource) ?? []), ...answers])
    this.waiting.get(resource)?.()
  }

  /** The watch of a collection that is open now. */
  watching(resource: string): FakeWatch {
    const watch = this.watches.get(resource)
    if (watch === undefined) throw new TypeError(`Nobody watches ${resource}`)
    return watch
  }

  readonly list: ObjectApi['list'] = async ({ resource, path }, token, signal) => {
    this.paths.push(path)
    this.calls.push(`list ${resource} ${token}`.trimEnd())
    const queue = this.answers.get(resource) ?? []
    if (queue.length === 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.waiting.set(resource, resolve)
        signal.addEventListener('abort', () => resolve())
      })
    }
    const answer = this.answers.get(resource)?.shift() ?? new ApiError('The list was ended')
    if (answer instanceof Error) throw answer
    return answer
  }

  readonly send: ObjectApi['send'] = async ({ method, path, body }) => {
    this.calls.push(`${method} ${path}`)
    const reply = this.replies.get(`${method} ${path}`)
    const value: unknown = typeof reply === 'function' ? reply(body) : reply
    if (value instanceof Error) throw value
    if (value === undefined) throw new ApiError('not found', 404)
    return value
  }

  readonly watch: ObjectApi['watch'] = async (collection: Listed, options: WatchOptions) => {
    const { resource, path } = collection
    const { resourceVersion, signal, onOpen, onEvent, sendInitialEvents = false } = options
    const { onBytes = () => undefined } = options
    if (sendInitialEvents && !this.streams) throw new ApiError('no WatchList', 422)
    this.paths.push(path)
    this.calls.push(`watch ${resource} ${sendInitialEvents ? 'all' : resourceVersion}`)
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => resolve())
        if (signal.aborted) resolve()
        this.watches.set(resource, {
          resourceVersion,
          signal,
          open: onOpen,
          send: (type, object, bytes = 100) => {
            onBytes(bytes)
            // It may have ended the watch, for another thread to read the object.
            if (!signal.aborted) void onEvent({ type, object })
          },
          end: resolve,
          fail: reject,
        })
      })
    } finally {
      this.watches.delete(resource)
    }
  }
}

/** A page of a list: its version, and its objects as a YAML list. */
export function page(resourceVersion: string, items = '', continueToken = ''): ObjectPage {
  return { items: parse(items) ?? [], resourceVersion, continueToken }
}

/** An object from YAML. */
export function value(yaml: string): unknown {
  return parse(yaml)
}

/** A Namespace and a Service in it, by collection, as YAML lists. */
export const SHOP_LISTS: Readonly<Record<string, string>> = {
  namespaces: '[{ metadata: { name: shop } }]',
  services: `
    - metadata: { namespace: shop, name: web }
      spec: { clusterIP: 192.0.2.10 }
  `,
  endpointslices: '',
}

/** Lets each collection be listed, the first at version 1, the second at 2, and so on. */
export function answerLists(
  api: ScriptedApi,
  lists: Readonly<Record<string, string>> = SHOP_LISTS,
): void {
  Object.entries(lists).forEach(([resource, items], i) => {
    api.answer(resource, page(String(i + 1), items))
  })
}

/** Lets the server begin to answer all watches. */
export function openWatches(api: ScriptedApi, resources: readonly string[]): void {
  for (const resource of resources) api.watching(resource).open()
}
