/**
 * The head of a cluster in a bucket: the one object that writers compare and swap. It names the
 * objects with the manifests of all kept generations, the pinned generation, and the shards that a
 * process removes now.
 * @module
 */
import { isRecord, listOf, parseJson } from '../../dns/bytes/unknown.ts'
import { StoreError } from '../../gateway/snapshots/store.ts'

/** Version of the format. */
const VERSION = 1
const OBJECT_NAME = /^\d{1,10}-[0-9a-f]{16}$/

/** A kept generation. */
export type HeadGeneration = {
  readonly generation: number
  /** Name of the object with its manifest, which never changes. */
  readonly object: string
}

/** The head. */
export type ClusterHead = {
  /** The newest first. */
  readonly generations: readonly HeadGeneration[]
  readonly pinned: number | undefined
  /** Shards that are removed, and when that was decided, in milliseconds since 1970. */
  readonly removed: ReadonlyMap<string, number>
}

/** The head of a cluster of which nothing is published. */
export const NO_HEAD: ClusterHead = { generations: [], pinned: undefined, removed: new Map() }

/** Formats a head as JSON. */
export function formatHead({ generations, pinned, removed }: ClusterHead): Uint8Array {
  const fields = { version: VERSION, generations, pinned, removed: [...removed] }
  return new TextEncoder().encode(JSON.stringify(fields))
}

/**
 * Parses what {@link formatHead} returned.
 * @throws {StoreError} for anything else: to write over it could lose what it names
 */
export function parseHead(bytes: Uint8Array): ClusterHead {
  const value = parseJson(new TextDecoder().decode(bytes))
  const { version, generations, pinned, removed } = isRecord(value) ? value : {}
  const isValid =
    version === VERSION &&
    Array.isArray(generations) &&
    generations.every(isGeneration) &&
    (pinned === undefined || typeof pinned === 'number') &&
    listOf(removed).every(isRemoval)
  if (!isValid) throw new StoreError('HEAD', new Error('the head of a cluster is broken'))
  return {
    generations: generations.map(({ generation, object }) => ({ generation, object })),
    pinned,
    removed: new Map(listOf(removed).filter(isRemoval)),
  }
}

function isGeneration(value: unknown): value is HeadGeneration {
  if (!isRecord(value) || !Number.isSafeInteger(value.generation)) return false
  return typeof value.object === 'string' && OBJECT_NAME.test(value.object)
}

function isRemoval(value: unknown): value is readonly [string, number] {
  const [sha256, atMs] = listOf(value)
  return typeof sha256 === 'string' && typeof atMs === 'number'
}
