/**
 * The manifest of a snapshot: its shards, its cluster and its time. The signature is over the bytes
 * of this JSON.
 * @module
 */
import { isRecord } from '../../dns/bytes/unknown.ts'
import { parseName } from '../../dns/names/name.ts'
import { SnapshotError } from './layout.ts'
import { RIGHTS_BYTES_MAX } from './rights-table.ts'
import {
  formatShardList,
  parseShardList,
  SHARD_ENTRY_BYTES,
  type ShardEntry,
  type ShardList,
} from './shard-list.ts'
import { readTokenIssuer, type TokenIssuer } from './token-issuer.ts'
import { formatVersions, VERSIONS_READ, VERSIONS_WRITTEN } from './versions.ts'

/** Newest manifest version that this build writes. */
export const MANIFEST_VERSION: number = Math.max(...VERSIONS_WRITTEN)
/** Most bytes of a manifest. */
export const MANIFEST_BYTES_MAX: number = 1024 * 1024
/** Most shards in a manifest. */
export const SHARDS_MAX = 4096
/** Most trees in a manifest beside the main one, and the pattern of their names. */
const TREES_MAX = 8
const TREE_NAME = /^[a-z]{1,32}$/
const SHA256 = /^[0-9a-f]{64}$/
/** Pattern of cluster identifiers, which occur in URLs and file names. */
export const CLUSTER_ID: RegExp = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** Another set of names of the same generation. */
export type ManifestTree<Shards = readonly ShardEntry[]> = {
  /** TTL of negative responses, in seconds. */
  readonly ttlSeconds: number
  /** Records in all its shards. */
  readonly records: number
  /** A power of two of them. */
  readonly shards: Shards
}

/** The contents of a manifest. */
export type Manifest<Shards = readonly ShardEntry[]> = {
  /** One of those in `versions.ts`. */
  readonly version: number
  readonly cluster: string
  /** Rises with every change; the serial of the zones' SOA records (RFC 1982). 1 to 2³²−1. */
  readonly generation: number
  /** When the exporter last confirmed or changed these names, RFC 3339. */
  readonly time: string
  /**
   * When the exporter last confirmed its names on schedule, RFC 3339; a change does not move it.
   * `time` stands in if it is missing.
   */
  readonly confirmed?: string
  /** Origins that the cluster itself uses; reverse look-ups answer below the first. */
  readonly origins: readonly string[]
  /** TTL of negative responses and of names made from addresses, in seconds. */
  readonly ttlSeconds: number
  /** Records in all shards. */
  readonly records: number
  /** Resource versions of the source's collections, from the API server. */
  readonly sources: Readonly<Record<string, string>>
  /** A power of two of them, in the order of the shards' indexes. */
  readonly shards: Shards
  /** Other trees, by name; absent if there are none. */
  readonly trees?: Readonly<Record<string, ManifestTree<Shards>>>
  /** Issuer of the cluster's ServiceAccount tokens; absent if the exporter cannot read it. */
  readonly tokenIssuer?: TokenIssuer
  /** The table of rights (`rights-table.ts`); absent if the exporter publishes none. */
  readonly rights?: ShardEntry
}

/** A manifest as a gateway reads it: the lists of shards stay packed. */
export type OpenManifest = Manifest<ShardList>

/** Name of the tree with the labels of namespaces, which answers no queries. */
export const LABELS_TREE = 'labels'

/** Lists all shards of a manifest, and its table of rights, which is stored as they are. */
export function allShards({ shards, trees = {}, rights }: Manifest): readonly ShardEntry[] {
  const ofTrees = Object.values(trees).flatMap((tree) => tree.shards)
  return [...shards, ...ofTrees, ...(rights === undefined ? [] : [rights])]
}

/** Writes a manifest. Equal manifests give equal bytes. */
export function formatManifest(manifest: Manifest): Uint8Array {
  const { version, cluster, generation, time, confirmed, origins } = manifest
  const { ttlSeconds, records, trees, tokenIssuer, rights } = manifest
  const ordered = {
    ...{ version, cluster, generation, time },
    ...(confirmed !== undefined && { confirmed }),
    ...{ origins, ttlSeconds, records },
    sources: Object.fromEntries(Object.entries(manifest.sources).sort()),
    shards: formatShardList(manifest.shards),
    ...(trees && { trees: formatTrees(trees) }),
    ...(tokenIssuer && { tokenIssuer }),
    ...(rights && { rights: { sha256: rights.sha256, bytes: rights.bytes } }),
  }
  return new TextEncoder().encode(`${JSON.stringify(ordered, undefined, 1)}\n`)
}

/**
 * Parses a manifest from untrusted bytes, with its lists of shards as objects.
 * @throws {SnapshotError} naming the invalid field
 */
export function parseManifest(bytes: Uint8Array): Manifest {
  return readManifest(bytes, entriesOf)
}

/**
 * Parses a manifest from untrusted bytes. The lists of shards stay packed, and sizes unchecked.
 * @throws {SnapshotError} naming the invalid field
 */
export function openManifest(bytes: Uint8Array): OpenManifest {
  return readManifest(bytes, (list) => list)
}

function readManifest<Shards>(
  bytes: Uint8Array,
  shardsOf: (list: ShardList) => Shards,
): Manifest<Shards> {
  if (bytes.length > MANIFEST_BYTES_MAX) throw refuse(`over ${MANIFEST_BYTES_MAX} bytes`)
  const fields = parseObject(bytes)
  const { version } = fields
  if (typeof version !== 'number' || !VERSIONS_READ.includes(version)) {
    throw refuse(`version is ${show(version)}, this build reads ${formatVersions(VERSIONS_READ)}`)
  }
  const trees = parseTrees(fields.trees, shardsOf)
  const tokenIssuer = parseTokenIssuer(fields.tokenIssuer)
  const rights = parseRights(fields.rights)
  return {
    version,
    cluster: textOf(fields, 'cluster', (text) => CLUSTER_ID.test(text)),
    generation: numberOf(fields, 'generation', 1, 0xffffffff),
    time: textOf(fields, 'time', isTime),
    ...(fields.confirmed !== undefined && { confirmed: textOf(fields, 'confirmed', isTime) }),
    origins: listOf(fields, 'origins', parseOrigin),
    ttlSeconds: numberOf(fields, 'ttlSeconds', 0, 3600),
    records: numberOf(fields, 'records', 0, Number.MAX_SAFE_INTEGER),
    sources: parseSources(fields.sources),
    shards: shardsOf(parseShards(fields.shards)),
    ...(trees && { trees }),
    ...(tokenIssuer && { tokenIssuer }),
    ...(rights && { rights }),
  }
}

function entriesOf(list: ShardList): readonly ShardEntry[] {
  const entries = list.entries()
  const empty = entries.findIndex(({ bytes }) => bytes === 0)
  if (empty >= 0) throw refuse(`shards[${empty}] has no bytes`)
  return entries
}

function refuse(what: string): SnapshotError {
  return new SnapshotError(`Cannot read manifest: ${what}`)
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? 'missing').slice(0, 60)
}

type Fields = Readonly<Record<string, unknown>>

function parseObject(bytes: Uint8Array): Fields {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
    const value: unknown = JSON.parse(decoder.decode(bytes))
    if (isRecord(value)) return value
  } catch {
    throw refuse('it is not JSON in UTF-8')
  }
  throw refuse('it is not a JSON object')
}

function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text))
}

function textOf(fields: Fields, name: string, isRight: (text: string) => boolean): string {
  const value = fields[name]
  if (typeof value === 'string' && isRight(value)) return value
  throw refuse(`${name} is ${show(value)}`)
}

function numberOf(fields: Fields, name: string, min: number, max: number): number {
  const value = fields[name]
  if (typeof value === 'number' && Number.isInteger(value) && min <= value && value <= max) {
    return value
  }
  throw refuse(`${name} is ${show(value)}, expected ${min} to ${max}`)
}

function listOf<T>(fields: Fields, name: string, parse: (value: unknown) => T | undefined): T[] {
  const value = fields[name]
  if (!Array.isArray(value)) throw refuse(`${name} is ${show(value)}, expected a list`)
  return value.map((item: unknown, i) => {
    const parsed = parse(item)
    if (parsed === undefined) throw refuse(`${name}[${i}] is ${show(item)}`)
    return parsed
  })
}

function parseOrigin(value: unknown): string | undefined {
  return typeof value === 'string' && parseName(value) !== undefined ? value : undefined
}

function parseShards(value: unknown): ShardList {
  const shards = typeof value === 'string' ? parseShardList(value) : undefined
  if (shards === undefined) {
    throw refuse(`shards is ${show(value)}, expected ${SHARD_ENTRY_BYTES} bytes each in base64url`)
  }
  const count = shards.length
  if (count < 1 || count > SHARDS_MAX || (count & (count - 1)) !== 0) {
    throw refuse(`${count} shards, expected a power of two up to ${SHARDS_MAX}`)
  }
  return shards
}

function formatTrees(trees: Readonly<Record<string, ManifestTree>>): object {
  const sorted = Object.entries(trees).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(
    sorted.map(([name, { ttlSeconds, records, shards }]) => [
      name,
      { ttlSeconds, records, shards: formatShardList(shards) },
    ]),
  )
}

function parseTrees<Shards>(
  value: unknown,
  shardsOf: (list: ShardList) => Shards,
): Manifest<Shards>['trees'] {
  if (value === undefined) return undefined
  const named = isRecord(value) ? Object.entries(value) : []
  if (named.length < 1 || named.length > TREES_MAX) throw refuse(`trees is ${show(value)}`)
  return Object.fromEntries(
    named.map(([name, fields]) => {
      if (!isRecord(fields) || !TREE_NAME.test(name)) throw refuse(`trees.${show(name)} is none`)
      const ttlSeconds = numberOf(fields, 'ttlSeconds', 0, 3600)
      const records = numberOf(fields, 'records', 0, Number.MAX_SAFE_INTEGER)
      return [name, { ttlSeconds, records, shards: shardsOf(parseShards(fields.shards)) }]
    }),
  )
}

function parseTokenIssuer(value: unknown): TokenIssuer | undefined {
  if (value === undefined) return undefined
  const parsed = isRecord(value) ? readTokenIssuer(value.issuer, value.keys) : undefined
  if (parsed === undefined) throw refuse(`tokenIssuer is ${show(value)}`)
  return parsed
}

function parseRights(value: unknown): ShardEntry | undefined {
  if (value === undefined) return undefined
  const { sha256, bytes } = isRecord(value) ? value : {}
  const isHash = typeof sha256 === 'string' && SHA256.test(sha256)
  const isSize = typeof bytes === 'number' && Number.isInteger(bytes)
  if (isHash && isSize && bytes > 0 && bytes <= RIGHTS_BYTES_MAX) return { sha256, bytes }
  throw refuse(`rights is ${show(value)}`)
}

function parseSources(value: unknown): Readonly<Record<string, string>> {
  if (!isRecord(value)) throw refuse(`sources is ${show(value)}`)
  const sources: Record<string, string> = {}
  for (const [name, version] of Object.entries(value)) {
    if (typeof version !== 'string') throw refuse(`sources.${name} is ${show(version)}`)
    sources[name] = version
  }
  return sources
}
