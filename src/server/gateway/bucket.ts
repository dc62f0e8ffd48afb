/**
 * What the stores in a bucket need of it: objects with entity tags, and writes that depend on
 * these.
 * @module
 */
import { mapConcurrently } from '../../dns/bytes/concurrent.ts'

/** An object. */
export type BucketObject = {
  /** Changes with the bytes. */
  readonly etag: string
  readonly bytes: Uint8Array
  /** What the writer said, in milliseconds since 1970. */
  readonly writtenMs: number
}

/** An object in a list. */
export type ListedObject = {
  readonly key: string
  readonly size: number
  /** By the clock of the bucket, in milliseconds since 1970. */
  readonly modifiedMs: number
}

/**
 * Objects by their keys. Whatever is written is read and listed at once, by all. Every method
 * throws `StoreError` when the bucket fails or takes too long.
 */
export type Bucket = {
  /**
   * Reads an object; `undefined` if there is none.
   * @param known returned as it is if the object has its entity tag, which costs no transfer
   */
  readonly get: (key: string, known?: BucketObject) => Promise<BucketObject | undefined>
  /** Returns when an object was written; `undefined` if there is none. */
  readonly writtenMs: (key: string) => Promise<number | undefined>
  /** Writes an object, whatever was there. */
  readonly put: (key: string, bytes: Uint8Array, writtenMs: number) => Promise<void>
  /**
   * Writes an object if what is there has the entity tag `before`, or if nothing is there without
   * one. Resolves with the new entity tag, or with `undefined` if another writer was first.
   */
  readonly swap: (
    key: string,
    bytes: Uint8Array,
    options: { readonly before: string | undefined; readonly writtenMs: number },
  ) => Promise<string | undefined>
  /** Lists the objects whose keys begin with a prefix, in no order. */
  readonly list: (prefix: string) => Promise<readonly ListedObject[]>
  /** Removes an object, if it is there. */
  readonly remove: (key: string) => Promise<void>
}

/** Requests of one call at a time. */
const AT_ONCE = 16

/** Runs requests of a bucket for each item, some at a time, as {@link mapConcurrently} does. */
export function forEachOf<T, Result>(
  items: readonly T[],
  step: (item: T) => Promise<Result>,
): Promise<readonly Result[]> {
  return mapConcurrently(items, AT_ONCE, step)
}
