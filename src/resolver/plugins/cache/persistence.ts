/**
 * Keeps the entries of a cache in a file, so that a restarted server answers from it at once.
 * @module
 */
import { createPause } from '../../../dns/bytes/steps.ts'
import type { Host } from '../../contract/host.ts'
import type { MaybePromise } from '../../contract/maybe-promise.ts'
import type { Cache } from './cache.ts'
import type { Half } from './metrics.ts'
import { unpackReply } from './packed-reply.ts'
import { readEntries, type SavedEntry, writeEntry } from './saved-entries.ts'
import { newEntry, secondsLeft } from './store.ts'

/** Largest content of a file; further entries are left out. */
export const CACHE_FILE_BYTES_MAX = 67_108_864
/** Pause between two writes. */
const SAVE_MS = 300_000
/** Entries that are read at a time, for some milliseconds: clients wait for them at the start. */
const READ_SLICE = 1000
const HALVES: readonly Half[] = ['success', 'denial']

/** A file for the entries of a cache. */
export type CacheFile = {
  /**
   * Reads the content; `undefined` if there is no file. Rejects if another cache wrote it, or it is
   * damaged.
   */
  readonly read: () => MaybePromise<Uint8Array | undefined>
  /** Starts a new content. @throws {Error} with the reason */
  readonly replace: () => NewContent
}

/** A new content of a file; readers see the previous one until `commit`. Both may throw. */
export type NewContent = {
  readonly add: (bytes: Uint8Array) => void
  readonly commit: () => void
  /** Gives it up. Never throws. */
  readonly abort: () => void
}

/** What the plugin needs beyond the host of all plugins. */
export type CacheHost = {
  /**
   * Returns the file of a cache. Absent where there are no files.
   * @param identity equal for caches whose entries may stand in for each other
   */
  readonly openCacheFile?: (path: string, identity: string) => CacheFile
  /** The memory limit of the process; absent for none. */
  readonly memoryLimitBytes?: number
}

/** A cache and its file. */
export type Persisted = {
  readonly cache: Cache
  readonly file: CacheFile
  /** The file's name, for the log. */
  readonly path: string
  readonly host: Host
}

/** Reads a cache's file at the start, and writes it every five minutes and at the end. */
export class Persistence {
  private readonly persisted: Persisted
  private cancel = (): void => {}
  private content: NewContent | undefined
  /** Whether the entries of the previous process are in the cache. */
  private isRead = false
  private isStopped = false

  constructor(persisted: Persisted) {
    this.persisted = persisted
  }

  /** Reads the file, and writes it from time to time after that. */
  start(): void {
    void this.run()
  }

  /** Writes the file, unless the one of the previous process is not read yet. */
  async stop(): Promise<void> {
    this.isStopped = true
    this.cancel()
    this.content?.abort()
    if (this.isRead) await this.tryToSave(() => this.save())
  }

  /** Never ends; `cancel` leaves it waiting. */
  private async run(): Promise<void> {
    try {
      await this.read()
    } catch (error) {
      this.warn('ignores the cache file', error)
    }
    if (this.isStopped) return
    this.isRead = true
    // A folder that is missing or read-only shows at the start.
    await this.tryToSave(() => this.begin().abort())
    for (;;) {
      await this.pause(SAVE_MS)
      await this.tryToSave(() => this.save())
    }
  }

  private async tryToSave(save: () => MaybePromise<void>): Promise<void> {
    try {
      await save()
    } catch (error) {
      this.content?.abort()
      this.warn('cannot write the cache file', error)
    }
  }

  private async read(): Promise<void> {
    const { cache, file, path, host } = this.persisted
    let entries = 0
    let seen = 0
    for (const saved of readEntries((await file.read()) ?? new Uint8Array(0))) {
      if (this.restore(saved)) entries++
      if (++seen % READ_SLICE === 0) await this.pause(0)
    }
    cache.noteSizes()
    if (seen > 0) host.log({ level: 'info', message: 'read the cache file', path, entries })
  }

  private async save(): Promise<void> {
    const content = this.begin()
    const pause = createPause(this.persisted.host)
    for (const bytes of this.encoded()) {
      content.add(bytes)
      const paused = pause()
      if (paused !== undefined) await paused
      // The cache was stopped meanwhile, and writes another content.
      if (this.content !== content) return
    }
    content.commit()
  }

  /**
   * Puts an entry into the cache, as old as it is. Leaves out one that has expired, that is newer
   * than the clock, or that has a newer one in its place.
   */
  private restore(saved: SavedEntry): boolean {
    const { cache, host } = this.persisted
    const { key, half, storedDateMs, ...kept } = saved
    const ageMs = host.now() - storedDateMs
    const storedMs = host.elapsed() - ageMs
    const left = secondsLeft({ ...kept, storedMs }, host.elapsed())
    const isUsable = ageMs >= 0 && (left > 0 || -left < cache.staleSeconds)
    const isNewer = HALVES.some((one) => (cache[one].peek(key)?.storedMs ?? storedMs) > storedMs)
    if (!isUsable || isNewer) return false
    cache[half].put(key, newEntry({ ...kept, storedMs }))
    return true
  }

  private begin(): NewContent {
    this.content = this.persisted.file.replace()
    return this.content
  }

  /** Writes the entries of both halves, up to the bound of the file. */
  private *encoded(): Generator<Uint8Array> {
    const { cache, host } = this.persisted
    let bytesLeft = CACHE_FILE_BYTES_MAX
    for (const half of HALVES) {
      for (const [key, { packed, ttlSeconds, storedMs, isAnswer }] of cache[half].entries()) {
        const storedDateMs = host.now() - (host.elapsed() - storedMs)
        const reply = unpackReply(packed, ttlSeconds)
        const bytes = writeEntry({ reply, ttlSeconds, isAnswer, key, half, storedDateMs })
        bytesLeft -= bytes.length
        if (bytesLeft < 0) return
        yield bytes
      }
    }
  }

  private pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.cancel = this.persisted.host.after(delayMs, resolve)
    })
  }

  private warn(message: string, error: unknown): void {
    const { host, path } = this.persisted
    const reason = error instanceof Error ? error.message : String(error)
    host.log({ level: 'warning', message, path, reason })
  }
}
