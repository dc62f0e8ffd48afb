/**
 * Checks what an exporter publishes, and stores it or refuses it.
 * @module
 */
import { EMPTY } from '../../dns/bytes/bytes.ts'
import { mapConcurrently } from '../../dns/bytes/concurrent.ts'
import { HEADER, SnapshotError } from '../../snapshot/format/layout.ts'
import { allShards, LABELS_TREE, type Manifest } from '../../snapshot/format/manifest.ts'
import { parsePublication } from '../../snapshot/format/publication.ts'
import { isRights, openRights } from '../../snapshot/format/rights-table.ts'
import { isSignedBy, type PublicKey, sha256Hex } from '../../snapshot/format/signature.ts'
import { openShard } from '../../snapshot/read/open-shard.ts'
import { chooseKept, findOrderRefusal } from './manifest-order.ts'
import {
  type ClusterStore,
  type KeptGenerations,
  manifestOf,
  type SignedManifest,
  type StoredManifest,
} from './store.ts'
import type { UnlistedShards } from './unlisted-shards.ts'

/** The newest generation and the previous one, which readers may still load. */
const GENERATIONS_LEAST = 2
const GENERATIONS_MAX = 20
/** Shards that are written or read at a time: each may be a request to another machine. */
const AT_ONCE = 8
const NONE: ReadonlySet<string> = new Set()

/** The outcome of a publication. */
export type IngestResult =
  | {
      readonly kind: 'stored'
      readonly etag: string
      readonly isNew: boolean
      /** Shards that were removed. */
      readonly dropped?: readonly string[]
    }
  | {
      readonly kind: 'refused'
      readonly status: number
      readonly code: string
      readonly message: string
    }
  | { readonly kind: 'missing'; readonly sha256s: readonly string[] }

/** The outcome for a cluster that an operator removes. */
export const BEING_REMOVED: IngestResult = refused(
  503,
  'being_removed',
  'The cluster was just removed; when it is added again, try again in two minutes',
)

/** A cluster's key, and the store that takes what it publishes. */
export type IngestTarget = {
  readonly cluster: string
  readonly publicKey: PublicKey
  readonly store: ClusterStore
  readonly unlisted: UnlistedShards
  /** Generations to keep, 20 when left out, at least the newest and the previous one. */
  readonly generationsMax?: number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/**
 * Stores a shard or a table of rights. Refuses bytes with another hash, and those of an invalid
 * one.
 */
export async function ingestShard(
  target: IngestTarget,
  sha256: string,
  bytes: Uint8Array,
): Promise<IngestResult> {
  if ((await sha256Hex(bytes)) !== sha256) {
    return refused(400, 'wrong_hash', 'The bytes do not have the SHA-256 in the URL')
  }
  const { store, now } = target
  const [missing] = await store.missingShards([sha256])
  if (missing === undefined) return { kind: 'stored', etag: `"${sha256}"`, isNew: false }
  const room = await roomFor(target, bytes)
  if ('kind' in room) return room
  await store.writeShard(sha256, bytes, now())
  return withDropped({ kind: 'stored', etag: `"${sha256}"`, isNew: true }, room.dropped)
}

/** Makes room for a new shard, and says which ones had to go; or refuses it. */
async function roomFor(
  { unlisted }: IngestTarget,
  bytes: Uint8Array,
  known?: readonly StoredManifest[],
): Promise<{ readonly dropped: readonly string[] } | Extract<IngestResult, { kind: 'refused' }>> {
  try {
    if (isRights(bytes)) openRights(bytes)
    else openShard(bytes)
  } catch (error) {
    if (error instanceof SnapshotError) return refused(400, 'bad_shard', error.message)
    throw error
  }
  const dropped = await unlisted.admit(bytes.length, known)
  if (dropped !== undefined) return { dropped }
  const message = 'Too many shards wait for a manifest that lists them; publish one first'
  return refused(507, 'unlisted_shards', message)
}

/**
 * Stores a manifest. Refuses one that is signed by none of the cluster's keys, not newer than the
 * current one, or lists missing shards.
 * @param expected entity tag of the manifest to replace; `undefined` for the first one
 */
export async function ingestManifest(
  target: IngestTarget,
  signed: SignedManifest,
  expected: string | undefined,
): Promise<IngestResult> {
  return ingestAll(target, { signed, shards: [] }, expected)
}

/**
 * Stores the shards of a publication, then its manifest. Refuses it as {@link ingestManifest}
 * does, before any shard is stored, and if a shard is invalid or not listed in the manifest.
 * @param sent the publication's bytes, and the signature of its manifest
 */
export async function ingestPublication(
  target: IngestTarget,
  sent: SignedManifest,
  expected: string | undefined,
): Promise<IngestResult> {
  const publication = parsePublication(sent.bytes)
  if (publication === undefined) {
    return refused(400, 'bad_publication', 'The body is not a manifest with shards')
  }
  const { manifest: bytes, shards } = publication
  return ingestAll(target, { signed: { ...sent, bytes }, shards }, expected)
}

/** Hashes of the shards that were stored with a manifest, and of those removed for them. */
type Ingested = { readonly stored: readonly string[]; readonly dropped: readonly string[] }

type Sent = { readonly signed: SignedManifest; readonly shards: readonly Uint8Array[] }

async function ingestAll(
  target: IngestTarget,
  { signed, shards: sent }: Sent,
  expected: string | undefined,
): Promise<IngestResult> {
  const { cluster, publicKey, store, now } = target
  if (!(await isSignedBy(publicKey, signed.bytes, signed.signature))) {
    return refused(403, 'bad_signature', "The signature is by none of this cluster's keys")
  }
  const manifest = tryParse(signed)
  if (typeof manifest === 'string') return refused(400, 'bad_manifest', manifest)
  if (manifest.cluster !== cluster) {
    return refused(400, 'wrong_cluster', `The manifest is of cluster "${manifest.cluster}"`)
  }
  const [newest] = await store.readManifests(1)
  const isQuiet = sent.length === 0 && !target.unlisted.hasSome
  // A confirmation of a whole manifest changes nothing else: the others need not be read.
  const isEnough = isQuiet && newest?.isWhole && newest.generation === manifest.generation
  const known = isEnough ? [newest] : await store.readManifests()
  const [previous] = known
  const etag = previous && (await manifestEtag(previous.bytes))
  if (etag !== expected) {
    return refused(412, 'changed', `The current manifest is ${etag ?? 'none'}`)
  }
  const before = previous && manifestOf(previous)
  const order = findOrderRefusal(manifest, before, now())
  if (order !== undefined) return { kind: 'refused', ...order }
  const tag = await manifestEtag(signed.bytes)
  const stored = { kind: 'stored', etag: tag, isNew: before === undefined } as const
  if (isEnough) {
    await store.writeManifest(manifest.generation, signed)
    return stored
  }
  const early = await ingestListed(target, { manifest, shards: sent, known })
  if ('kind' in early) return early
  const checked = new Set([...early.stored, ...(before === undefined ? [] : hashesOf(before))])
  const present = previous?.isWhole ? checked : NONE
  const missing = await findMissing(store, manifest, { checked, present })
  if (missing.length > 0) return { kind: 'missing', sha256s: missing }
  if (await hasLabelsAsNames(store, manifest)) {
    return refused(400, 'bad_manifest', 'A shard of namespace labels is listed among names')
  }
  const kept = await keptBeside(target, manifest, known)
  await store.writeManifest(manifest.generation, signed, kept)
  const late = await target.unlisted.drop(kept.listed, new Set(kept.delisted))
  return withDropped(stored, [...early.dropped, ...late])
}

/**
 * Stores shards that came with a manifest.
 * @returns their hashes, and those of the shards that were removed for them, or why one is refused
 */
async function ingestListed(
  target: IngestTarget,
  {
    manifest,
    shards,
    known,
  }: {
    readonly manifest: Manifest
    readonly shards: readonly Uint8Array[]
    readonly known: readonly StoredManifest[]
  },
): Promise<Ingested | Exclude<IngestResult, { kind: 'stored' }>> {
  const listed = new Set(shards.length > 0 ? hashesOf(manifest) : [])
  const { store, now } = target
  const sent = new Map<string, Uint8Array>()
  for (const bytes of shards) {
    const sha256 = await sha256Hex(bytes)
    if (!listed.has(sha256)) {
      return refused(400, 'wrong_hash', `The manifest does not list the shard ${sha256}`)
    }
    sent.set(sha256, bytes)
  }
  const stored = await store.missingShards([...sent.keys()])
  const dropped: string[] = []
  for (const sha256 of stored) {
    const room = await roomFor(target, sent.get(sha256) ?? EMPTY, known)
    if ('kind' in room) return room
    dropped.push(...room.dropped)
  }
  await mapConcurrently(stored, AT_ONCE, (sha256) =>
    store.writeShard(sha256, sent.get(sha256) ?? EMPTY, now()),
  )
  return { stored, dropped }
}

/**
 * Lists the shards of a manifest that the store lacks. Reads those that are not checked: they may
 * be corrupt, for example written by a process that was killed.
 * @param known `checked`: those of the previous manifest, and those that this publication has
 *   stored; `present`: of these, those that the store has for certain
 */
async function findMissing(
  store: ClusterStore,
  manifest: Manifest,
  {
    checked,
    present,
  }: { readonly checked: ReadonlySet<string>; readonly present: ReadonlySet<string> },
): Promise<readonly string[]> {
  const listed = hashesOf(manifest).filter((sha256) => !present.has(sha256))
  const missing = await store.missingShards(listed)
  if (missing.length > 0) return missing
  const corrupt: string[] = []
  const unchecked = new Set(listed.filter((sha256) => !checked.has(sha256)))
  await mapConcurrently([...unchecked], AT_ONCE, async (sha256) => {
    if ((await store.readShard(sha256)) === undefined) corrupt.push(sha256)
  })
  return corrupt
}

function withDropped(
  result: Extract<IngestResult, { kind: 'stored' }>,
  dropped: readonly string[],
): IngestResult {
  return dropped.length === 0 ? result : { ...result, dropped }
}

function hashesOf(manifest: Manifest): readonly string[] {
  return allShards(manifest).map(({ sha256 }) => sha256)
}

/** Chooses what to keep: readers may still load shards of the previous manifest. */
async function keptBeside(
  { store, generationsMax = GENERATIONS_MAX }: IngestTarget,
  manifest: Manifest,
  before: readonly SignedManifest[],
): Promise<Required<Pick<KeptGenerations, 'generations' | 'listed' | 'delisted'>>> {
  const served = await store.readManifest()
  const pinned = served?.isPinned === true ? served.generation : undefined
  const older = before
    .map(manifestOf)
    .filter(({ generation }) => generation !== manifest.generation)
  const all = [manifest, ...older]
  const dated = all.map(({ generation, time }) => ({ generation, timeMs: Date.parse(time) }))
  const chosen = chooseKept(dated, Math.max(GENERATIONS_LEAST, generationsMax))
  const generations = new Set(chosen.map(({ generation }) => generation))
  if (pinned !== undefined) generations.add(pinned)
  const kept = all.filter(({ generation }) => generations.has(generation))
  const listed = new Set(kept.flatMap(hashesOf))
  const known = new Set(all.flatMap(hashesOf))
  return { generations, listed, delisted: [...known].filter((one) => !listed.has(one)) }
}

/** Returns the entity tag of a manifest's bytes (RFC 9110 §8.8.3). */
export async function manifestEtag(bytes: Uint8Array): Promise<string> {
  return `"${(await sha256Hex(bytes)).slice(0, 32)}"`
}

/**
 * Returns whether a manifest would publish namespace labels as names. Trees may share an empty
 * shard, and trees of names may share any.
 */
async function hasLabelsAsNames(store: ClusterStore, manifest: Manifest): Promise<boolean> {
  const { [LABELS_TREE]: labels, ...trees } = manifest.trees ?? {}
  const names = new Set(allShards({ ...manifest, trees }).map(({ sha256 }) => sha256))
  for (const { sha256 } of labels?.shards ?? []) {
    const bytes = names.has(sha256) ? await store.readShard(sha256) : undefined
    if (bytes !== undefined && openShard(bytes).field(HEADER.NODE_COUNT) > 0) return true
  }
  return false
}

function tryParse(signed: SignedManifest): Manifest | string {
  try {
    return manifestOf(signed)
  } catch (error) {
    if (error instanceof SnapshotError) return error.message
    throw error
  }
}

function refused(
  status: number,
  code: string,
  message: string,
): Extract<IngestResult, { kind: 'refused' }> {
  return { kind: 'refused', status, code, message }
}
