/**
 * Mirrors one collection of the API: lists it, watches from there, and lists again when the server
 * no longer has the resource version (410 Gone).
 * @module
 */
import { recordOf } from '../bytes/unknown.ts'
import type { ClusterObject, Kind } from '../kubernetes/objects/objects.ts'
import { parseObject } from '../kubernetes/objects/parse-object.ts'
import { Backoff, type Sleep } from './backoff.ts'
import {
  ApiError,
  type Collection,
  type ObjectApi,
  STATUS_GONE,
  STATUS_NOT_FOUND,
} from './object-api.ts'

/** The receiver of objects. */
export type ObjectSink = {
  readonly set: (object: ClusterObject) => void
  readonly delete: (kind: Kind, namespace: string, name: string) => void
}

/** Options of a reflector. */
export type ReflectorOptions = {
  readonly api: ObjectApi
  readonly collection: Collection
  readonly sink: ObjectSink
  /** Called when something changed, or was confirmed. */
  readonly onChange: () => void
  /** Called with an invalid object, which is skipped. */
  readonly onWarning: (message: string) => void
  /** Called when the API server is unreachable, before the next attempt. */
  readonly onError: (message: string) => void
  /**
   * Logged errors that persist, shared by all mirrors of one server: each is logged once, and again
   * after a list succeeded in between. Default: its own.
   */
  readonly reported?: Set<string>
  /** Called when an open watch is about to count as closed: until now no change was missed. */
  readonly onClose: () => void
  readonly sleep: Sleep
  /** Returns a number from 0 to 1. */
  readonly random: () => number
}

/** Longest pause after a watch without events: a server may end every watch at once. */
const PAUSE_MS = 500
/** Time after which a kind that the server does not serve is tried again. */
const ABSENT_MS = 60_000

type Identity = { readonly namespace: string; readonly name: string }

/** The mirror of one collection. */
export class Reflector {
  private readonly options: ReflectorOptions
  private readonly backoff: Backoff
  /** Objects that the sink has, by namespace and name. */
  private readonly present = new Map<string, ClusterObject>()
  /** Problems of invalid objects, by namespace and name. */
  private readonly problems = new Map<string, string>()
  private readonly ownReported = new Set<string>()
  /** The logged reason why it cannot follow; '' while it can. */
  private failure = ''
  private version = ''
  /** Index of the collection's path that the server serves, as far as known. */
  private pathIndex = 0
  /** Whether the server does not serve the kind, as far as known. */
  private isAbsent = false
  private lists = 0
  private open = false

  constructor(options: ReflectorOptions) {
    this.options = options
    this.backoff = new Backoff(options.random)
  }

  /** Resource version that the sink has; '' before the first complete list. */
  get resourceVersion(): string {
    return this.version
  }

  /** Returns whether the collection has been listed once. */
  get hasSynced(): boolean {
    return this.lists > 0
  }

  /** Returns whether a watch is open now, so that no change can be missed. */
  get isConnected(): boolean {
    return this.open
  }

  /** Returns the number of objects in the collection. */
  get count(): number {
    return this.present.size
  }

  /** Returns the objects that the sink has. */
  objects(): Iterable<ClusterObject> {
    return this.present.values()
  }

  /** Returns the number of lists so far. */
  get listCount(): number {
    return this.lists
  }

  /** Runs until `signal` ends it. Never throws because of the API server. */
  async run(signal: AbortSignal): Promise<void> {
    let needsList = true
    while (!signal.aborted) {
      try {
        if (needsList) await this.list(signal)
        needsList = false
        await this.watch(signal)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const isAbsent = error.status === STATUS_NOT_FOUND && this.olderPaths !== undefined
        if (error.status === STATUS_GONE || isAbsent) needsList = true
        if (signal.aborted) return
        if (isAbsent) await this.tryOlder(signal)
        else await this.pause(error, signal)
      }
    }
  }

  private get olderPaths(): Collection['olderPaths'] {
    return this.options.collection.olderPaths
  }

  /** Returns the collection with the path to try now. */
  private get collection(): Collection {
    const { collection } = this.options
    const path = this.pathIndex === 0 ? undefined : collection.olderPaths?.[this.pathIndex - 1]
    return path === undefined ? collection : { ...collection, path }
  }

  /** Continues with an older API version. After the last, the server does not serve the kind. */
  private async tryOlder(signal: AbortSignal): Promise<void> {
    const count = 1 + (this.olderPaths?.length ?? 0)
    this.pathIndex = (this.pathIndex + 1) % count
    if (this.pathIndex > 0) return
    const { collection, onChange, onClose, onWarning, sleep } = this.options
    const { resource } = collection
    const absent = `the API server does not serve ${resource}; no names are published for it`
    if (!this.isAbsent) onWarning(absent)
    this.isAbsent = true
    for (const [key, object] of this.present) this.remove(key, object)
    this.lists++
    this.open = true
    onChange()
    await sleep(ABSENT_MS, signal)
    onClose()
    this.open = false
  }

  private async pause(error: ApiError, signal: AbortSignal): Promise<void> {
    const { collection, onError, sleep, random } = this.options
    if (error.status === STATUS_GONE) {
      await sleep(PAUSE_MS * random(), signal)
      return
    }
    const delayMs = this.backoff.next()
    const seconds = (delayMs / 1000).toFixed(1)
    const { reported = this.ownReported } = this.options
    if (!reported.has(error.message)) {
      onError(`cannot follow ${collection.resource}: ${error.message}; again in ${seconds} s`)
    }
    if (this.failure !== error.message) reported.delete(this.failure)
    this.failure = error.message
    reported.add(error.message)
    await sleep(delayMs, signal)
  }

  /** Notes that the server responds: resets the back-off, and logs the next failure. */
  private recover(): void {
    this.backoff.reset()
    const { reported = this.ownReported } = this.options
    reported.delete(this.failure)
    this.failure = ''
  }

  /** Reads all pages, and removes objects that are in none of them. */
  private async list(signal: AbortSignal): Promise<void> {
    const { api, onChange } = this.options
    const { collection } = this
    const seen = new Set<string>()
    let token = ''
    let version = ''
    do {
      const page = await api.list(collection, token, signal)
      for (const item of page.items) seen.add(this.take(item))
      version = page.resourceVersion
      token = page.continueToken
    } while (token !== '')
    for (const [key, object] of this.present) if (!seen.has(key)) this.remove(key, object)
    for (const key of this.problems.keys()) if (!seen.has(key)) this.problems.delete(key)
    this.version = version
    this.isAbsent = false
    this.lists++
    this.recover()
    onChange()
  }

  private async watch(signal: AbortSignal): Promise<void> {
    const { api, onClose, sleep, random } = this.options
    const { collection } = this
    const ended = new AbortController()
    let problem: ApiError | undefined
    let isSilent = true
    try {
      await api.watch(collection, {
        resourceVersion: this.version,
        signal: AbortSignal.any([signal, ended.signal]),
        onOpen: () => {
          this.open = true
        },
        onEvent: ({ type, object }) => {
          isSilent = false
          problem ??= this.handle(type, object)
          if (problem === undefined) {
            this.recover()
            return
          }
          this.open = false
          ended.abort()
        },
      })
    } finally {
      if (this.open) onClose()
      this.open = false
    }
    if (problem !== undefined) throw problem
    if (isSilent) await sleep(PAUSE_MS * random(), signal)
  }

  /** @returns the error of an event, if it is one */
  private handle(type: string, object: unknown): ApiError | undefined {
    if (type === 'ERROR') return statusError(object)
    const { version, namespace, name } = identify(object)
    if (version !== '') this.version = version
    if (type === 'BOOKMARK') return undefined
    if (type === 'DELETED') this.remove(`${namespace}/${name}`, { namespace, name })
    else this.take(object)
    this.options.onChange()
    return undefined
  }

  /** Passes an object to the sink. @returns its key */
  private take(item: unknown): string {
    const { kind } = this.options.collection
    const { namespace, name } = identify(item)
    const key = `${namespace}/${name}`
    const value = typeof item === 'object' && item !== null ? { ...item, kind } : item
    const object = parseObject(value)
    if (object === undefined || object.kind === 'problem') {
      const known = this.problems.get(key)
      this.remove(key, { namespace, name })
      if (object !== undefined) this.complain(key, object.message, known)
    } else {
      this.problems.delete(key)
      this.present.set(key, object)
      this.options.sink.set(object)
    }
    return key
  }

  private complain(key: string, message: string, known: string | undefined): void {
    if (known !== message) this.options.onWarning(message)
    this.problems.set(key, message)
  }

  private remove(key: string, { namespace, name }: Identity): void {
    this.present.delete(key)
    this.problems.delete(key)
    this.options.sink.delete(this.options.collection.kind, namespace, name)
  }
}

function identify(object: unknown): Identity & { readonly version: string } {
  const { metadata } = recordOf(object)
  const { namespace, name, resourceVersion } = recordOf(metadata)
  return { namespace: textOf(namespace), name: textOf(name), version: textOf(resourceVersion) }
}

/** Returns the error of an event of type ERROR, which carries a Status (meta/v1). */
function statusError(object: unknown): ApiError {
  const { code, message } = recordOf(object)
  const status = typeof code === 'number' ? code : undefined
  return new ApiError(textOf(message) || 'watch failed', status)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
