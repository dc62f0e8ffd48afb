/**
 * Clusters that publish: keys, snapshots from zone-file text, signed manifests.
 * @module
 */

import { labelRecords } from '../../src/cluster/trees/namespace-labels.ts'
import { finish } from '../../src/dns/bytes/steps.ts'
import type { SignedManifest } from '../../src/gateway/snapshots/store.ts'
import {
  formatManifest,
  LABELS_TREE,
  MANIFEST_VERSION,
  type Manifest,
  type ManifestTree,
} from '../../src/snapshot/format/manifest.ts'
import { principalKey, type Right, writeRights } from '../../src/snapshot/format/rights-table.ts'
import type { ShardEntry } from '../../src/snapshot/format/shard-list.ts'
import { type PrivateKey, sha256Hex, signBytes } from '../../src/snapshot/format/signature.ts'
import type { RRset } from '../../src/snapshot/records/zone-entry.ts'
import { buildShards } from '../../src/snapshot/write/build-shards.ts'
import { rrset } from '../snapshot/entries.ts'

/** What `web` is at first. */
export const WEB = 'web.shop.svc.cluster.local. 5 IN A 10.96.0.80'

/** A snapshot, signed. */
export type Published = {
  readonly signed: SignedManifest
  readonly manifest: Manifest
  /** Bytes of the shards by their hash. */
  readonly shards: ReadonlyMap<string, Uint8Array>
}

/** Makes a snapshot of record sets, each given as the lines of a zone file. */
export async function snapshotOf(
  key: PrivateKey,
  sets: readonly string[],
  fields: Partial<Manifest> & {
    readonly shardCount?: number
    /** Labels of namespaces, each as `key=value`. */
    readonly labels?: Readonly<Record<string, readonly string[]>>
    /** Record sets of other trees, by their names. */
    readonly treeSets?: Readonly<Record<string, readonly string[]>>
    /** What users and groups may see; `broken` are bytes that are no table. */
    readonly rightsOf?: readonly Right[] | 'broken'
  } = {},
): Promise<Published> {
  const { shardCount = 1, labels, treeSets = {}, rightsOf, ...replaced } = fields
  const shards = new Map<string, Uint8Array>()
  const list = (built: readonly Uint8Array[]): Promise<ShardEntry[]> =>
    Promise.all(
      built.map(async (bytes) => {
        const sha256 = await sha256Hex(bytes)
        shards.set(sha256, bytes)
        return { sha256, bytes: bytes.length }
      }),
    )
  const build = (some: readonly string[]): readonly Uint8Array[] =>
    buildShards(
      some.map((lines) => rrset(lines, namespaceOf(lines))),
      shardCount,
    )
  const listed = await list(build(sets))
  const trees = new Map<string, ManifestTree>()
  for (const [name, some] of Object.entries(treeSets)) {
    const tree = { ttlSeconds: 5, records: some.length, shards: await list(build(some)) }
    trees.set(name, tree)
  }
  const labelShards = labels === undefined ? [] : buildShards(entriesOf(labels))
  if (labels !== undefined) {
    trees.set(LABELS_TREE, { ttlSeconds: 0, records: 0, shards: await list(labelShards) })
  }
  const table = rightsOf && (await tableOf(rightsOf))
  const [rights] = table === undefined ? [] : await list([table])
  const manifest: Manifest = {
    version: MANIFEST_VERSION,
    cluster: 'shop',
    generation: 1,
    time: '2026-01-01T00:00:00.000Z',
    origins: ['cluster.local.'],
    ttlSeconds: 5,
    records: sets.length,
    sources: {},
    shards: listed,
    ...(trees.size > 0 && { trees: Object.fromEntries(trees) }),
    ...(rights && { rights }),
    ...replaced,
  }
  return { signed: await signedBy(key, formatManifest(manifest)), manifest, shards }
}

/** Writes a table of rights. */
export async function tableOf(rights: readonly Right[] | 'broken'): Promise<Uint8Array> {
  if (rights === 'broken') return new TextEncoder().encode('KDR1 and no table')
  const keys = new Map<string, Uint8Array>()
  for (const { kind, name } of rights) {
    keys.set(`${kind === 'user' ? 'u' : 'g'}:${name}`, await principalKey(kind, name))
  }
  return finish(writeRights(rights, (text) => keys.get(text) ?? new Uint8Array(16)))
}

/** The namespace of a Service's name; names of Services are its namespace's alone. */
function namespaceOf(lines: string): string {
  return /^\S+?\.([\w-]+)\.svc\./.exec(lines)?.[1] ?? ''
}

function entriesOf(labels: Readonly<Record<string, readonly string[]>>): readonly RRset[] {
  const namespaces = Object.entries(labels).map(([name, texts]) => {
    const pairs = texts.map((text): [string, string] => {
      const [key = '', value = ''] = text.split('=')
      return [key, value]
    })
    return { kind: 'Namespace', namespace: '', name, labels: new Map(pairs) } as const
  })
  return labelRecords(namespaces).entries
}

/** Signs bytes that stand for a manifest. */
export async function signedBy(key: PrivateKey, bytes: Uint8Array): Promise<SignedManifest> {
  return { bytes, signature: await signBytes(key, bytes) }
}
