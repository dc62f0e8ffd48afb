/**
 * Mirrors one collection of the API: lists it, watches from there, and lists again when the server
 * no longer has the resource version (410 Gone). Where the server can, list and watch are one
 * request that streams the objects (KEP-3157), else the list comes in pages.
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { createPause } from '../../dns/bytes/steps.ts'
import { recordOf } from '../../dns/bytes/unknown.ts'
import type { ClusterObject } from '../objects/objects.ts'
import type { Timing } from './backoff.ts'
import { FailureReports, type Reported } from './failure-reports.ts'
import type { HostBudget } from './host-budget.ts'
import { MirroredObjects, type ObjectSink } from './mirrored-objects.ts'
import {
  ApiError,
  type Collection,
  INITIAL_END,
  type Listed,
  type ObjectApi,
  type ObjectPage,
  STATUS_GONE,
  STATUS_INVALID,
  STATUS_NOT_FOUND,
  STATUS_TOO_MANY,
  statusError,
} from './object-api.ts'
import { type Intake, ObjectIntake } from './object-intake.ts'

/** Options of a reflector. */
export type ReflectorOptions = Pick<Timing, 'sleep' | 'random' | 'elapsed'> & {
  readonly api: ObjectApi
  /** Called when something changed, or was confirmed. */
  readonly onChange: () => void
  /** Called with an invalid object, which is skipped. */
  readonly onWarning: (message: string) => void
  /** Called when the API server is unreachable, before the next attempt. */
  readonly onError: (message: string) => void
  /** Shared by all mirrors of one server. Default: its own. */
  readonly reported?: Reported
  /** Called when an open watch is about to count as closed: until now no change was missed. */
  readonly onClose: () => void
  /** Called again and again while the collection is large, and before a large object is parsed. */
  readonly onLarge?: () => void
} & (ParsedObjects | WholeObjects)

/** Objects that are parsed for a sink. */
type ParsedObjects = {
  readonly collection: Collection
  readonly sink: ObjectSink
  /** Bounds the hostnames of its objects and others. Default: no bound. */
  readonly budget?: HostBudget
}
/** Objects that are passed on as they are. */
type WholeObjects = {
  readonly collection: Listed & { readonly olderPaths?: undefined }
  readonly intake: Intake
}

/** Bytes of one object that make its collection large before it is parsed. */
const OBJECT_BYTES_LARGE = 256 * 1024
/** The same of a page of a list, which has many objects. */
const PAGE_BYTES_LARGE = 1024 * 1024
/** Longest pause after a watch without events: a server may end every watch at once. */
const PAUSE_MS = 500
/** Time after which a kind that the server does not serve is tried again. */
const ABSENT_MS = 60_000
/**
 * Age of a list after which the end of a watch starts a new one. It finds what a watch that
 * looked alive never reported; unchanged objects cost a comparison of their resource versions.
 */
const RELIST_MS = 3_600_000

/** The mirror of one collection. */
export class Reflector {
  private readonly options: ReflectorOptions
  private readonly failures: FailureReports
  private readonly mirrored: MirroredObjects | undefined
  private readonly intake: Intake
  /** Bytes of the event that comes next, and whether one was ever large. */
  private eventBytes = 0
  private hadLarge = false
  private version = ''
  /** Index of the collection's path that the server serves, as far as known. */
  private pathIndex = 0
  /** Whether the server streams lists, as far as known. */
  private canStream = true
  private needsList = true
  /** Whether objects need to be read again, though the server has every version. */
  private isListDue = false
  /** Ends the watch. */
  private watching = new AbortController()
  private lists = 0
  private listedMs = 0
  private warnedMissed = 0
  private open = false

  constructor(options: ReflectorOptions) {
    this.options = options
    this.failures = new FailureReports(options)
    if ('intake' in options) {
      this.intake = options.intake
      return
    }
    const { sink, onWarning, budget, sleep, elapsed } = options
    const { kind } = options.collection
    const readAgain = (): void => this.listAgain()
    const shared = budget && { budget, onCut: options.onChange, readAgain }
    const mirrored = new MirroredObjects(kind, sink, onWarning, shared)
    const onParsed = (): void => {
      if (this.isLarge) this.options.onLarge?.()
      this.options.onChange()
    }
    this.intake = new ObjectIntake({ kind, mirrored, sleep, elapsed, onParsed })
    this.mirrored = mirrored
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

  /** Returns whether the role may not read the collection: its objects stay as they were. */
  get isForbidden(): boolean {
    return !this.open && this.failures.isForbidden
  }

  /** Returns whether the server serves the kind and the role may read it, as far as known. */
  get isAvailable(): boolean {
    return this.isServed && !this.isForbidden
  }

  /** Returns whether the server serves the kind, as far as known. */
  get isServed(): boolean {
    return !this.failures.isAbsent
  }

  /** Returns why objects are missing or may be old; `undefined` if they are current. */
  get problem(): string | undefined {
    return this.failures.problem(this.hasSynced)
  }

  /** Whether it is large (`MirroredObjects`), or one of its objects took many bytes. */
  get isLarge(): boolean {
    return this.hadLarge || this.mirrored?.isLarge === true
  }

  /** Returns the number of objects in the collection. */
  get count(): number {
    return this.mirrored?.count ?? 0
  }

  /** Returns the number of present objects that are invalid, which the sink has not. */
  get invalid(): number {
    return this.mirrored?.invalid ?? 0
  }

  /** Returns the number of changes that watches should have reported and that lists found. */
  get missed(): number {
    return this.mirrored?.missed ?? 0
  }

  /** Returns the objects that the sink has. */
  objects(): Iterable<ClusterObject> {
    return this.mirrored?.objects() ?? []
  }

  /** Returns the number of lists so far. */
  get listCount(): number {
    return this.lists
  }

  /** Runs until `signal` ends it. Never throws because of the API server. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.stop(), { once: true })
    while (!signal.aborted) {
      try {
        if (this.isListDue) this.needsList = true
        this.isListDue = false
        if (this.needsList && !this.canStream) await this.list(signal)
        else await this.watch(signal)
        if (this.options.elapsed() - this.listedMs >= RELIST_MS) this.needsList = true
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        if (signal.aborted) return
        await this.handleError(error, signal)
      }
    }
  }

  private stop(): void {
    this.intake.stop()
    this.mirrored?.stop()
  }

  private listAgain(): void {
    this.isListDue = true
    if (this.open) this.watching.abort()
  }

  private async handleError(error: ApiError, signal: AbortSignal): Promise<void> {
    const { sleep, random } = this.options
    if (this.needsList && this.canStream && NO_STREAM_STATUSES.has(error.status)) {
      this.canStream = false
    } else if (error.status === STATUS_GONE) {
      this.needsList = true
      await sleep(PAUSE_MS * random(), signal)
    } else if (
      error.status === STATUS_NOT_FOUND &&
      this.options.collection.olderPaths !== undefined
    ) {
      this.needsList = true
      await this.tryOlder(signal)
    } else {
      const wasForbidden = this.isForbidden
      const paused = this.failures.pause(error, signal)
      if (this.isForbidden && !wasForbidden) this.options.onChange()
      await paused
    }
  }

  /** Returns the collection with the path to try now. */
  private get collection(): Listed {
    const { collection } = this.options
    const path = this.pathIndex === 0 ? undefined : collection.olderPaths?.[this.pathIndex - 1]
    return path === undefined ? collection : { ...collection, path }
  }

  /** Continues with an older API version. After the last, the server does not serve the kind. */
  private async tryOlder(signal: AbortSignal): Promise<void> {
    const count = 1 + (this.options.collection.olderPaths?.length ?? 0)
    this.pathIndex = (this.pathIndex + 1) % count
    if (this.pathIndex > 0) return
    const { onChange, onClose, sleep } = this.options
    this.failures.noteAbsent()
    this.intake.startList('')
    this.intake.endList()
    this.lists++
    this.open = true
    onChange()
    await sleep(ABSENT_MS, signal)
    onClose()
    this.open = false
  }

  /** Reads all pages, and removes objects that are in none of them. */
  private async list(signal: AbortSignal): Promise<void> {
    this.intake.startList(this.version)
    let token = ''
    let version = ''
    const { elapsed } = this.options
    do {
      const page = await this.page(token, signal)
      const pause = createPause({ elapsed, nextTurn: setImmediate })
      for (const item of page.items) {
        this.take(item)
        await pause()
      }
      // What waits of one page is parsed before the next one is read.
      await this.intake.settled()
      if (signal.aborted) return
      version = page.resourceVersion
      token = page.continueToken
    } while (token !== '')
    this.endList(version)
  }

  private take(item: unknown, bytes = 0): Promise<void> | undefined {
    const taken = this.intake.take(item, bytes)
    if (this.isLarge) this.options.onLarge?.()
    return taken
  }

  /** Notes the size of what is about to be parsed. */
  private noteBytes(bytes: number, most: number): void {
    this.eventBytes = bytes
    if (bytes < most) return
    this.hadLarge = true
    this.options.onLarge?.()
  }

  /** Reads a page; waits and asks again when the server has too many requests. */
  private async page(token: string, signal: AbortSignal): Promise<ObjectPage> {
    for (;;) {
      try {
        const onBytes = (bytes: number): void => this.noteBytes(bytes, PAGE_BYTES_LARGE)
        return await this.options.api.list(this.collection, token, signal, onBytes)
      } catch (error) {
        const isBusy = error instanceof ApiError && error.status === STATUS_TOO_MANY
        if (!isBusy || signal.aborted) throw error
        await this.failures.pause(error, signal)
      }
    }
  }

  private endList(version: string): void {
    const count = this.missed - this.warnedMissed
    this.warnedMissed = this.missed
    this.intake.endList()
    const missed = `the watch of ${this.collection.resource} missed ${count} changes`
    if (count > 0) this.options.onWarning(`${missed}, found by a new list`)
    this.version = version
    this.needsList = false
    this.listedMs = this.options.elapsed()
    this.failures.recover()
    const listed = (): void => {
      this.lists++
      this.options.onChange()
    }
    // The collection is not listed before its large objects are parsed.
    const settled = this.intake.settled()
    if (settled === undefined) listed()
    else void settled.then(listed)
  }

  /** Watches from the last version, or streams a list first if one is due. */
  private async watch(signal: AbortSignal): Promise<void> {
    const { api, onClose, sleep, random } = this.options
    const watching = new AbortController()
    this.watching = watching
    const sendInitialEvents = this.needsList
    if (sendInitialEvents) this.intake.startList(this.version)
    let problem: ApiError | undefined
    let isSilent = true
    try {
      await api.watch(this.collection, {
        resourceVersion: sendInitialEvents ? '' : this.version,
        sendInitialEvents,
        signal: AbortSignal.any([signal, watching.signal]),
        onOpen: () => {
          this.open = !sendInitialEvents
        },
        onBytes: (bytes) => this.noteBytes(bytes, OBJECT_BYTES_LARGE),
        onEvent: ({ type, object }) => {
          isSilent = false
          if (problem !== undefined) return undefined
          const handled = this.handle(type, object)
          if (!(handled instanceof ApiError)) return handled
          problem = handled
          this.open = false
          watching.abort()
          return undefined
        },
      })
    } finally {
      if (this.open) onClose()
      this.open = false
    }
    if (problem !== undefined) throw problem
    if (this.needsList) {
      // A server that ignores the request for initial events may never end them.
      this.canStream = false
      throw new ApiError('the streamed list ended before it was complete')
    }
    if (isSilent) await sleep(PAUSE_MS * random(), signal)
  }

  /** @returns the error of an event, if it is one, or when the next event may be read */
  private handle(type: string, object: unknown): ApiError | Promise<void> | undefined {
    if (type === 'ERROR') return statusError(object)
    let taken: Promise<void> | undefined
    if (type === 'DELETED') this.intake.drop(object)
    else if (type !== 'BOOKMARK') taken = this.take(object, this.eventBytes)
    const { resourceVersion, annotations } = recordOf(recordOf(object).metadata)
    const version = typeof resourceVersion === 'string' ? resourceVersion : ''
    if (this.needsList) {
      if (type !== 'BOOKMARK') return taken
      // A server that ignores the request for initial events sends bookmarks without it.
      if (recordOf(annotations)[INITIAL_END] !== 'true') return NO_STREAM
      this.endList(version)
      this.open = true
      if (this.isListDue) this.watching.abort()
      return undefined
    }
    if (version !== '') this.version = version
    this.failures.recover()
    if (type !== 'BOOKMARK') this.options.onChange()
    return taken
  }
}

/**
 * Statuses of servers that do not stream lists: 422 without the feature, 500 with an etcd that
 * cannot report the progress of watches (before 3.4.31 and 3.5.13).
 */
const NO_STREAM_STATUSES: ReadonlySet<number | undefined> = new Set([400, STATUS_INVALID, 500])
const NO_STREAM = new ApiError('the server does not stream lists', STATUS_INVALID)
