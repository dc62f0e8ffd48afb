/**
 * What a gateway takes from an exporter, and what it refuses: checked before anything is kept.
 * @module
 */

import { SnapshotError } from '../snapshot/errors.ts'
import { allShards, type Manifest, parseManifest } from '../snapshot/manifest.ts'
import { openShard } from '../snapshot/open-shard.ts'
import { isSignedBy, type PublicKey, sha256Hex } from '../snapshot/signature.ts'
import { chooseKept } from './generations.ts'
import type { ClusterStore, Kept, SignedManifest } from './store.ts'

/** How far ahead of our clock an exporter's may be. */
const CLOCK_SKEW_MS = 5 * 60 * 1000
/** The newest generation, and the one before it, which readers may still be reading. */
const GENERATIONS_LEAST = 2
const GENERATIONS_MAX = 20

/** What became of something published. */
export type IngestResult =
  | {
      readonly kind: 'stored'
      readonly etag: string
      readonly isNew: boolean
      /** Shards that went with an older manifest. */
      readonly dropped?: readonly string[]
    }
  | {
      readonly kind: 'refused'
      readonly status: number
      readonly code: string
      readonly message: string
    }
  | { readonly kind: 'missing'; readonly sha256s: readonly string[] }

/** A cluster that publishes here. */
export type Publisher = {
  readonly cluster: string
  readonly publicKey: PublicKey
  readonly store: ClusterStore
  /** Generations to keep, 20 when left out; the newest and the one before it at least. */
  readonly generationsMax?: number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Takes a shard: its octets must have the hash that it is put under, and be a shard. */
export async function ingestShard(
  { store }: Publisher,
  sha256: string,
  bytes: Uint8Array,
): Promise<IngestResult> {
  if ((await sha256Hex(bytes)) !== sha256) {
    return refused(400, 'wrong_hash', 'The octets do not have the SHA-256 in the URL')
  }
  const [missing] = await store.missingShards([sha256])
  if (missing === undefined) return { kind: 'stored', etag: `"${sha256}"`, isNew: false }
  try {
    openShard(bytes)
  } catch (error) {
    if (error instanceof SnapshotError) return refused(400, 'bad_shard', error.message)
    throw error
  }
  await store.writeShard(sha256, bytes)
  return { kind: 'stored', etag: `"${sha256}"`, isNew: true }
}

/**
 * Takes a manifest when it is signed by the cluster's key, newer than the one that is here, and all
 * its shards are here.
 * @param expected the entity tag that the exporter holds to be the present one; `undefined` when it
 * holds that there is none
 */
export async function ingestManifest(
  publisher: Publisher,
  signed: SignedManifest,
  expected: string | undefined,
): Promise<IngestResult> {
  const { cluster, publicKey, store, now } = publisher
  if (!(await isSignedBy(publicKey, signed.bytes, signed.signature))) {
    return refused(403, 'bad_signature', "The signature is not by this cluster's key")
  }
  const manifest = tryParse(signed.bytes)
  if (typeof manifest === 'string') return refused(400, 'bad_manifest', manifest)
  if (manifest.cluster !== cluster) {
    return refused(400, 'wrong_cluster', `The manifest is of cluster "${manifest.cluster}"`)
  }
  if (Date.parse(manifest.time) > now() + CLOCK_SKEW_MS) {
    return refused(400, 'from_the_future', `The manifest's time, ${manifest.time}, is not yet`)
  }
  const known = await store.readManifests()
  const [previous] = known
  const etag = previous && (await manifestEtag(previous.bytes))
  if (etag !== expected) {
    return refused(412, 'changed', `The present manifest is ${etag ?? 'none'}`)
  }
  const before = previous && parseManifest(previous.bytes)
  if (before !== undefined && !isNewer(manifest, before)) {
    const message = `Generation ${manifest.generation} is not newer than ${before.generation}`
    return refused(409, 'not_newer', message)
  }
  const listed = allShards(manifest).map(({ sha256 }) => sha256)
  const missing = await store.missingShards(listed)
  if (missing.length > 0) return { kind: 'missing', sha256s: missing }
  const kept = await keptBeside(publisher, manifest, known)
  const dropped = await store.writeManifest(manifest.generation, signed, kept)
  const tag = await manifestEtag(signed.bytes)
  const stored = { kind: 'stored', etag: tag, isNew: before === undefined } as const
  return dropped.length === 0 ? stored : { ...stored, dropped }
}

/** Chooses what is kept: shards of the manifest before stay for readers that are on their way. */
async function keptBeside(
  { store, generationsMax = GENERATIONS_MAX }: Publisher,
  manifest: Manifest,
  known: readonly SignedManifest[],
): Promise<Kept> {
  const served = await store.readManifest()
  const pinned = served?.isPinned === true ? parseManifest(served.bytes).generation : undefined
  const older = known
    .map(({ bytes }) => parseManifest(bytes))
    .filter(({ generation }) => generation !== manifest.generation)
  const all = [manifest, ...older]
  const dated = all.map(({ generation, time }) => ({ generation, timeMs: Date.parse(time) }))
  const chosen = chooseKept(dated, Math.max(GENERATIONS_LEAST, generationsMax))
  const generations = new Set(chosen.map(({ generation }) => generation))
  if (pinned !== undefined) generations.add(pinned)
  const shards = all
    .filter(({ generation }) => generations.has(generation))
    .flatMap((one) => allShards(one).map(({ sha256 }) => sha256))
  return { generations, shards: new Set(shards) }
}

/** The entity tag of a manifest's octets. */
export async function manifestEtag(bytes: Uint8Array): Promise<string> {
  return `"${(await sha256Hex(bytes)).slice(0, 32)}"`
}

/** A later generation; or the same one, confirmed later. */
function isNewer(next: Manifest, before: Manifest): boolean {
  if (next.generation !== before.generation) return next.generation > before.generation
  const [listed, known] = [allShards(next), allShards(before)]
  const isSame = listed.every(({ sha256 }, i) => sha256 === known[i]?.sha256)
  const isAsMany = listed.length === known.length
  return isSame && isAsMany && Date.parse(next.time) > Date.parse(before.time)
}

function tryParse(bytes: Uint8Array): Manifest | string {
  try {
    return parseManifest(bytes)
  } catch (error) {
    if (error instanceof SnapshotError) return error.message
    throw error
  }
}

function refused(status: number, code: string, message: string): IngestResult {
  return { kind: 'refused', status, code, message }
}
