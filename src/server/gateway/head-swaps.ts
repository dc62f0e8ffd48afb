/**
 * Reads and swaps the head of a cluster in a bucket.
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { HttpError } from '../../gateway/doh/http-error.ts'
import type { Bucket, BucketObject } from './bucket.ts'
import { type ClusterHead, formatHead, NO_HEAD, parseHead } from './cluster-head.ts'

/** How often other writers may come first. */
const ATTEMPTS_MAX = 20

/** Another writer was first: the step starts again. */
export class LostRace extends Error {
  /** The object that it removed; '' when it swapped the head. */
  readonly object: string

  constructor(object = '') {
    super('another writer was first')
    this.object = object
  }
}

/** The head in memory, and the object that it was read from. */
export type ReadHead = ClusterHead & { readonly object: BucketObject | undefined }

/** What a swap needs beside the bucket. */
export type HeadSwapsOptions = {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Returns the head to write in place of an edited one. */
  readonly cleaned: (head: ClusterHead) => ClusterHead
}

/** The head that a step began with, and has swapped since; `undefined` once it has ended. */
type Step = { head: ReadHead | undefined }

/** The head of one cluster. */
export class HeadSwaps {
  private readonly bucket: Bucket
  private readonly key: string
  private readonly options: HeadSwapsOptions
  /** The head as of the last look. */
  private last: ReadHead = { ...NO_HEAD, object: undefined }
  /** The step that calls: clients that read meanwhile get the newest head. */
  private readonly steps = new AsyncLocalStorage<Step>()

  constructor(bucket: Bucket, key: string, options: HeadSwapsOptions) {
    this.bucket = bucket
    this.key = key
    this.options = options
  }

  /** The head as of the last look or swap. */
  get known(): ClusterHead {
    return this.last
  }

  /**
   * Runs a step with one head, from its reads to its swaps; runs it again when another process has
   * swapped the head meanwhile. Call it for one step at a time.
   * @throws {HttpError} 503 when others come first again and again
   */
  async exclusive<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const step: Step = { head: await this.look() }
      try {
        return await this.steps.run(step, work)
      } catch (error) {
        if (!(error instanceof LostRace)) throw error
      } finally {
        step.head = undefined
      }
    }
    throw busy()
  }

  /** Reads the head; within a step, the one that the step began with or has written. */
  async read(): Promise<ReadHead> {
    return this.steps.getStore()?.head ?? this.look()
  }

  private async look(): Promise<ReadHead> {
    const before = this.last
    const object = await this.bucket.get(this.key, before.object)
    if (object === before.object) return before
    this.last = { ...(object === undefined ? NO_HEAD : parseHead(object.bytes)), object }
    return this.last
  }

  private get isInStep(): boolean {
    return this.steps.getStore()?.head !== undefined
  }

  /**
   * Runs a read with the head, again with a newer one if it throws {@link LostRace}, because what
   * the head names is removed.
   * @param onLost gets an object that the head still names: nobody but us may remove it
   * @throws {LostRace} within a step when another writer was first
   */
  async reading<T>(
    read: (head: ClusterHead) => Promise<T>,
    onLost: (object: string) => void,
  ): Promise<T> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const head = await this.read()
      try {
        return await read(head)
      } catch (error) {
        if (!(error instanceof LostRace)) throw error
        if ((await this.look()).object?.etag === head.object?.etag) onLost(error.object)
        else if (this.isInStep) throw error
      }
    }
    throw busy()
  }

  /**
   * Swaps the head for what `edit` makes of it; changes nothing for `undefined`.
   * @throws {LostRace} within a step when another writer was first
   * @throws {HttpError} 503 when others come first again and again
   */
  async change(edit: (head: ClusterHead) => ClusterHead | undefined): Promise<void> {
    const { now, cleaned } = this.options
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const { object, ...before } = await this.read()
      const edited = edit(before)
      if (edited === undefined) return
      const head = cleaned(edited)
      const bytes = formatHead(head)
      const writtenMs = now()
      const etag = await this.bucket.swap(this.key, bytes, { before: object?.etag, writtenMs })
      if (etag !== undefined) {
        this.last = { ...head, object: { etag, bytes, writtenMs } }
        const step = this.steps.getStore()
        if (step?.head !== undefined) step.head = this.last
        return
      }
      if (this.isInStep) throw new LostRace()
    }
    throw busy()
  }
}

/** Returns the refusal of a write that others are in the way of. */
export function busy(): HttpError {
  return new HttpError(503, 'busy', 'Other gateways write this cluster; try again')
}
