/**
 * Passes objects of the API server to their mirror. Light ones are parsed at once; one that
 * takes long waits, the newest version of it only, and is parsed in slices. An object that changes
 * without end waits for a token of its own, and holds up no other.
 * @module
 */
import { setImmediate } from 'node:timers/promises'
import { inSlices, type Steps } from '../../dns/bytes/steps.ts'
import { recordOf } from '../../dns/bytes/unknown.ts'
import type { Kind } from '../objects/objects.ts'
import { parseInSteps } from '../objects/parse-object.ts'
import type { Timing } from './backoff.ts'
import { type Identity, identify, type MirroredObjects } from './mirrored-objects.ts'
import { TokenBucket } from './token-bucket.ts'

/** Options of an intake. */
export type IntakeOptions = Pick<Timing, 'sleep' | 'elapsed'> & {
  readonly kind: Kind
  readonly mirrored: MirroredObjects
  /** Called when an object that waited was parsed. */
  readonly onParsed: () => void
}

/** Takes the objects of lists and watches. */
export type Intake = Pick<ObjectIntake, keyof ObjectIntake>

/** Size from which on an object is not light: a parser and the rules take some 0.2 ms for it. */
const LIGHT_SIZE_MAX = 8192
/** What a value of an object counts at least: each is looked at. */
const VALUE_SIZE = 16
/** Bytes of objects that wait; with more, no further one is read until some are parsed. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024
/** Kinds that never wait: the API bounds them, and rollouts change them often. */
const LIGHT_KINDS: ReadonlySet<Kind> = new Set([
  ...(['Namespace', 'EndpointSlice', 'Pod', 'Node'] as const),
  ...(['ServiceImport', 'ServiceExport'] as const),
])
/** Kinds whose objects may stand for thousands of records with few bytes. */
const HEAVY_KINDS: ReadonlySet<Kind> = new Set(['ConfigMap'])
/** Changes of one object that is not light: these, then one in 10 s. */
const CHANGES_BURST = 10
const CHANGES_PER_SECOND = 0.1
/** Buckets that are kept although they are full. */
const BUCKETS_FULL_MAX = 1000

/** Bytes of an object whose text takes a good part of a turn to read. */
const TURN_BYTES = 64 * 1024

type Waiting = {
  readonly item: unknown
  readonly identity: Identity
  readonly bytes: number
  round: number
}

type Parsing = Waiting & { isGone: boolean }

/** The intake of one collection. */
export class ObjectIntake {
  private readonly options: IntakeOptions
  private readonly waiting = new Map<string, Waiting>()
  private readonly buckets = new Map<string, TokenBucket>()
  private waitingBytes = 0
  private round = 0
  /** The object that is parsed now. */
  private parsing: Parsing | undefined
  private draining: Promise<void> | undefined
  private wakes = new AbortController()
  private readonly ended = new AbortController()

  constructor(options: IntakeOptions) {
    this.options = options
  }

  /** Starts a list. @param watchedVersion resource version of the last watch; '' without one */
  startList(watchedVersion: string): void {
    this.round++
    this.options.mirrored.startList(watchedVersion)
  }

  /** Ends a list: forgets every object that it lacks. */
  endList(): void {
    for (const [key, { round }] of this.waiting) if (round !== this.round) this.forget(key)
    const { parsing } = this
    if (parsing !== undefined && parsing.round !== this.round) parsing.isGone = true
    this.options.mirrored.endList()
  }

  /**
   * Takes an object of a list or a watch.
   * @param bytes what it took, as far as known
   * @returns a promise if the caller should read no further object before it resolves
   */
  take(item: unknown, bytes = 0): Promise<void> | undefined {
    const { kind, mirrored } = this.options
    const identity = identify(item)
    const { key } = identity
    if (mirrored.hasVersion(identity) || this.isParsing(identity)) {
      this.forget(key)
      return undefined
    }
    if (!this.waiting.has(key) && isLight(kind, item)) {
      mirrored.take(item)
      return undefined
    }
    mirrored.keep(identity)
    this.forget(key)
    this.waiting.set(key, { item, identity, bytes, round: this.round })
    this.waitingBytes += bytes
    const drained = this.drain()
    return this.waitingBytes > WAITING_BYTES_MAX ? drained : undefined
  }

  /** Removes a deleted object. */
  drop(item: unknown): void {
    const { key } = identify(item)
    this.forget(key)
    if (this.parsing?.identity.key === key) this.parsing.isGone = true
    this.options.mirrored.drop(item)
  }

  /** Resolves when every object that may be parsed now is; `undefined` if there is none. */
  settled(): Promise<void> | undefined {
    return this.draining
  }

  /** Ends the work. */
  stop(): void {
    this.ended.abort()
    this.wakes.abort()
  }

  private forget(key: string): void {
    this.waitingBytes -= this.waiting.get(key)?.bytes ?? 0
    this.waiting.delete(key)
  }

  /** Parses what may be parsed now, and comes back for the rest. */
  private drain(): Promise<void> {
    this.draining ??= this.parseDue().finally(() => {
      this.draining = undefined
      if (!this.ended.signal.aborted) void this.comeBack()
    })
    return this.draining
  }

  private async parseDue(): Promise<void> {
    for (let due = this.takeDue(); due !== undefined; due = this.takeDue()) {
      await this.parse(due)
      if (this.ended.signal.aborted) return
      this.options.onParsed()
    }
  }

  private takeDue(): Waiting | undefined {
    for (const [key, waiting] of this.waiting) {
      const bucket = this.bucketOf(key)
      if (bucket.delayMs() > 0) continue
      bucket.take()
      this.forget(key)
      return waiting
    }
    return undefined
  }

  private async parse(waiting: Waiting): Promise<void> {
    const { elapsed } = this.options
    const { signal } = this.ended
    const parsing = { ...waiting, isGone: false }
    this.parsing = parsing
    const turns = { elapsed, nextTurn: () => setImmediate(undefined, { signal }) }
    try {
      // Its text took most of this turn.
      if (waiting.bytes >= TURN_BYTES) await turns.nextTurn()
      await inSlices(this.parseAndPass(parsing), turns)
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      this.parsing = undefined
    }
  }

  private *parseAndPass(parsing: Parsing): Steps<void> {
    const parsed = yield* parseInSteps(parsing.item, this.options.kind)
    // It may have been deleted meanwhile, or a list may have ended that lacks it.
    if (!parsing.isGone) this.options.mirrored.accept(parsing.identity, parsed)
  }

  /** Returns whether this version of an object is parsed now. */
  private isParsing({ key, version }: Identity): boolean {
    const { parsing } = this
    if (parsing?.identity.key !== key || parsing.identity.version !== version) return false
    parsing.round = this.round
    return true
  }

  /** Continues when the next object has a token. */
  private async comeBack(): Promise<void> {
    this.wakes.abort()
    if (this.waiting.size === 0) return
    const wakes = new AbortController()
    this.wakes = wakes
    let delayMs = Number.POSITIVE_INFINITY
    for (const key of this.waiting.keys()) {
      delayMs = Math.min(delayMs, this.bucketOf(key).delayMs())
    }
    await this.options.sleep(delayMs, wakes.signal)
    if (!wakes.signal.aborted) void this.drain()
  }

  private bucketOf(key: string): TokenBucket {
    const known = this.buckets.get(key)
    if (known !== undefined) return known
    if (this.buckets.size > BUCKETS_FULL_MAX + this.waiting.size) this.dropFullBuckets()
    const bucket = new TokenBucket(CHANGES_PER_SECOND, CHANGES_BURST, this.options.elapsed)
    this.buckets.set(key, bucket)
    return bucket
  }

  /** A deleted object keeps its bucket until that is full, so that it cannot come back as new. */
  private dropFullBuckets(): void {
    for (const [key, bucket] of this.buckets) if (bucket.isFull) this.buckets.delete(key)
  }
}

/** Returns whether an object takes little time, whatever its kind makes of it. */
function isLight(kind: Kind, item: unknown): boolean {
  if (LIGHT_KINDS.has(kind)) return true
  return !HEAVY_KINDS.has(kind) && sizeUpTo(item, LIGHT_SIZE_MAX) < LIGHT_SIZE_MAX
}

/** Returns the size of a value in characters, or a number of at least `max` for a larger one. */
function sizeUpTo(value: unknown, max: number): number {
  if (typeof value === 'string') return VALUE_SIZE + value.length
  if (typeof value !== 'object' || value === null) return VALUE_SIZE
  let size = VALUE_SIZE
  for (const one of Array.isArray(value) ? value : Object.values(recordOf(value))) {
    size += sizeUpTo(one, max - size)
    if (size >= max) break
  }
  return size
}
