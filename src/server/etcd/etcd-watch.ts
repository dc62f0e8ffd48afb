/**
 * Keeps keys of etcd in memory: lists them in pages, then watches from that revision; lists again
 * if etcd has compacted it. The previous table stays in use until a new one is complete. Requests
 * the remaining times of leases, which etcd does not push.
 * @module
 */
import { Backoff, type Sleep } from '../../cluster/api/backoff.ts'
import { KeyTable } from '../../resolver/plugins/etcd/key-table.ts'
import type { KeySource } from '../../resolver/plugins/etcd/options.ts'
import type { StoredKey } from '../../snapshot/records/stored-keys.ts'
import { CODE_COMPACTED, type EtcdApi, EtcdError, type KeyRange } from './etcd-client.ts'
import type { KeyChange, WatchMessage } from './etcd-json.ts'

type EtcdWatchOptions = {
  readonly api: EtcdApi
  /** Prefix of the keys: a path without a final slash. */
  readonly path: string
  readonly now: () => number
  readonly sleep: Sleep
  /** Returns a random number from 0 to 1. */
  readonly random: () => number
  /** Receives warnings about invalid values. */
  readonly onWarning: (message: string) => void
  /** Receives errors of requests, which are retried. */
  readonly onError: (message: string) => void
  /** Receives each change, and whether the key's value is valid; changes of a list at its end. */
  readonly onChange?: OnKeyChange | undefined
  /** Called when the watch has opened, and when it has ended. */
  readonly onConnected?: () => void
  /** Most characters of keys and values (default: 256 Mi). */
  readonly charactersMax?: number
}

/** Receives a change of a key, and whether the key's value is valid. */
export type OnKeyChange = (change: KeyChange, isValid: boolean) => void

const PAGE_KEYS = 1000
const KEYS_MAX = 1_000_000
/** Most characters of all keys and values; a character takes one byte, beyond Latin-1 two. */
const CHARACTERS_MAX = 256 * 1024 * 1024
/** Time before keys beyond these bounds are listed again: such a list is much work for etcd. */
const FULL_MS = 60_000
/** Warnings about invalid values in a row that are logged. */
const WARNINGS_MAX = 20
/** Maximum time between attempts to reach an unavailable etcd. */
const RETRY_MS_MAX = 5000
/** Maximum pause after a watch without a message, to spare a server that ends all watches. */
const PAUSE_MS = 500
/** Time before keys are listed again on request: a list is much work for both sides. */
const RELIST_MS = 5000

/** The keys are too many or too large to hold. */
class KeysFullError extends EtcdError {}

/** The keys below a path, kept up to date. */
export class EtcdWatch implements KeySource {
  /** Resolves when all keys have been listed once. */
  readonly synced: Promise<void>
  /** Whether a watch is open. */
  isConnected = false
  private readonly options: EtcdWatchOptions
  private readonly range: KeyRange
  private readonly backoff: Backoff
  private readonly leases: EtcdLeases
  private readonly ended = new AbortController()
  /** Ends the watch that is open. */
  private following = new AbortController()
  private readonly whenSynced = Promise.withResolvers<void>()
  private table: KeyTable | undefined
  /** Revision of the table; 0 if it must be listed again. */
  private revision = 0
  /** ID of the etcd cluster of that revision. */
  private cluster = ''
  private warnings = 0
  private readonly charactersMax: number

  constructor(options: EtcdWatchOptions) {
    this.options = options
    const { api, path, now, random, charactersMax = CHARACTERS_MAX } = options
    this.charactersMax = charactersMax
    // "0" follows "/" in ASCII.
    this.range = { first: `${path}/`, end: `${path}0` }
    this.backoff = new Backoff(random, RETRY_MS_MAX)
    const { signal } = this.ended
    this.leases = new EtcdLeases({ ask: (lease) => api.timeToLive(lease, signal), now })
    this.synced = this.whenSynced.promise
  }

  readonly current = (): KeyTable | undefined => this.table

  readonly leaseSeconds = (lease: string): number | undefined => this.leases.seconds(lease)

  /**
   * Follows the keys until `stop`. Retries after errors of etcd and never rejects because of them.
   */
  async run(): Promise<void> {
    const { signal } = this.ended
    while (!signal.aborted) {
      try {
        if (this.revision === 0) await this.read(signal)
        await this.follow(signal)
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error
        const isOld = error.code === CODE_COMPACTED || error instanceof KeysFullError
        if (isOld) this.revision = 0
        if (!signal.aborted) await this.pause(error, signal)
      }
    }
  }

  stop(): void {
    this.ended.abort()
  }

  /** Lists all keys again, after a pause, and reports them. Does nothing during a list. */
  relist(): void {
    this.following.abort()
  }

  private async pause(error: EtcdError, signal: AbortSignal): Promise<void> {
    const { onError, sleep, random } = this.options
    if (error.code === CODE_COMPACTED) {
      await sleep(PAUSE_MS * random(), signal)
      return
    }
    const delayMs = error instanceof KeysFullError ? FULL_MS : this.backoff.next()
    const seconds = (delayMs / 1000).toFixed(1)
    onError(`cannot watch the keys of etcd: ${error.message}; retrying in ${seconds} s`)
    await sleep(delayMs, signal)
  }

  /** Lists all pages as of the revision of the first one. */
  private async read(signal: AbortSignal): Promise<void> {
    const { api } = this.options
    const table = new KeyTable()
    let { first } = this.range
    let revision = 0
    let cluster = ''
    const listed: StoredKey[] = []
    let characters = 0
    this.warnings = 0
    for (let hasMore = true; hasMore; ) {
      const { end } = this.range
      const page = await api.range({ first, end }, { revision, countMax: PAGE_KEYS }, signal)
      if (revision === 0) ({ revision, cluster } = page)
      for (const stored of page.keys) {
        this.put(table, stored)
        if (this.options.onChange === undefined) continue
        characters += stored.key.length + stored.value.length
        this.checkSize(characters)
        listed.push(stored)
      }
      const last = page.keys.at(-1)
      hasMore = page.hasMore && last !== undefined
      if (last !== undefined) first = `${last.key}\0`
    }
    const before = this.table
    this.table = table
    for (const [key] of before?.below('') ?? []) {
      if (table.find(key) === undefined) this.report({ kind: 'delete', key })
    }
    for (const stored of listed) this.report({ kind: 'put', stored })
    this.revision = revision
    this.cluster = cluster
    this.backoff.reset()
    this.whenSynced.resolve()
  }

  private async follow(signal: AbortSignal): Promise<void> {
    const { api, sleep, random } = this.options
    let isSilent = true
    const following = new AbortController()
    this.following = following
    try {
      await api.watch(this.range, this.revision + 1, {
        signal: AbortSignal.any([signal, following.signal]),
        onMessage: (message) => {
          isSilent = false
          this.take(message)
        },
      })
    } catch (error) {
      if (!following.signal.aborted) throw error
    } finally {
      this.connected(false)
    }
    if (following.signal.aborted) {
      this.revision = 0
      await sleep(RELIST_MS, signal)
    } else if (isSilent) await sleep(PAUSE_MS * random(), signal)
  }

  private connected(isConnected: boolean): void {
    this.isConnected = isConnected
    this.options.onConnected?.()
  }

  /** @throws {EtcdError} if the message ends the watch */
  private take(message: WatchMessage): void {
    switch (message.kind) {
      case 'created':
        // Etcd was restored or replaced: its revisions are not comparable with ours.
        if (message.revision < this.revision || message.cluster !== this.cluster) {
          throw new EtcdError('etcd was restored or replaced', CODE_COMPACTED)
        }
        this.connected(true)
        return
      case 'changes':
        this.warnings = 0
        for (const change of message.changes) this.change(change)
        this.revision = Math.max(this.revision, message.revision)
        this.backoff.reset()
        return
      case 'cancelled':
        throw new EtcdError(message.reason, message.isCompacted ? CODE_COMPACTED : undefined)
      case 'error':
        throw new EtcdError(message.reason, message.code)
    }
  }

  private change(change: KeyChange): void {
    if (this.table === undefined) return
    if (change.kind === 'put') this.put(this.table, change.stored)
    else this.table.delete(change.key)
    this.report(change)
  }

  private report(change: KeyChange): void {
    const key = change.kind === 'put' ? change.stored.key : change.key
    this.options.onChange?.(change, typeof this.table?.find(key) !== 'string')
  }

  private put(table: KeyTable, stored: StoredKey): void {
    if (table.size >= KEYS_MAX) throw new KeysFullError(`more than ${KEYS_MAX} keys; delete some`)
    const wrong = table.set(stored)
    this.checkSize(table.characters)
    // An exporter, which receives changes, does not publish what remains of a lease.
    if (stored.lease !== '' && this.options.onChange === undefined) {
      this.leases.seconds(stored.lease)
    }
    if (wrong === undefined || ++this.warnings > WARNINGS_MAX) return
    const rest = this.warnings === WARNINGS_MAX ? '; further ones are not logged' : ''
    this.options.onWarning(`key "${stored.key}" of etcd: ${wrong}${rest}`)
  }

  /** @throws {KeysFullError} beyond the bound; the table that is in use stays */
  private checkSize(characters: number): void {
    if (characters <= this.charactersMax) return
    const max = this.charactersMax.toLocaleString('en-US')
    throw new KeysFullError(`keys and values have over ${max} characters; delete some`)
  }
}

type LeaseOptions = {
  /** Requests the remaining seconds of a lease, 0 or less if it has expired. Can reject. */
  readonly ask: (lease: string) => Promise<number>
  readonly now: () => number
}

type Lease = { readonly endMs: number | undefined; readonly askedMs: number }

/** Minimum time between requests for a lease. */
const AGE_MS = 5000
const ASKING_MAX = 8
/** Maximum number of known leases; beyond it, forgets those with the oldest request. */
const LEASES_MAX = 65_536

/** Leases by ID. */
export class EtcdLeases {
  private readonly options: LeaseOptions
  private readonly leases = new Map<string, Lease>()
  private readonly waiting = new Set<string>()
  private asking = 0

  constructor(options: LeaseOptions) {
    this.options = options
  }

  /**
   * Returns a lower bound of a lease's remaining seconds; 1 if it is unknown yet or seems expired,
   * in which case it was renewed or its keys are about to be deleted. `undefined` if etcd does not
   * know the lease.
   */
  seconds(id: string): number | undefined {
    const nowMs = this.options.now()
    const lease = this.leases.get(id)
    if (lease === undefined || nowMs - lease.askedMs > AGE_MS) this.ask(id)
    if (lease === undefined) return 1
    if (lease.endMs === undefined) return undefined
    return Math.max(1, Math.floor((lease.endMs - nowMs) / 1000))
  }

  private ask(id: string): void {
    if (this.waiting.size >= LEASES_MAX) return
    this.waiting.add(id)
    this.askWaiting()
  }

  private askWaiting(): void {
    for (const id of this.waiting) {
      if (this.asking === ASKING_MAX) return
      this.waiting.delete(id)
      this.asking++
      void this.learn(id).finally(() => {
        this.asking--
        this.askWaiting()
      })
    }
  }

  /** If etcd is unavailable, keeps the last time, which is a lower bound. */
  private async learn(id: string): Promise<void> {
    const { ask, now } = this.options
    const askedMs = now()
    const endMs = this.leases.get(id)?.endMs ?? askedMs
    try {
      const seconds = await ask(id)
      this.put(id, { endMs: seconds > 0 ? askedMs + seconds * 1000 : undefined, askedMs })
    } catch {
      this.put(id, { endMs, askedMs })
    }
  }

  private put(id: string, lease: Lease): void {
    this.leases.delete(id)
    this.leases.set(id, lease)
    if (this.leases.size <= LEASES_MAX) return
    const [oldest] = this.leases.keys()
    if (oldest !== undefined) this.leases.delete(oldest)
  }
}
