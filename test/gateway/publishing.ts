/**
 * Clusters that publish: keys, snapshots from zone-file text, signed manifests.
 * @module
 */
import type { SignedManifest } from '../../src/gateway/store.ts'
import { buildShards } from '../../src/snapshot/build-shards.ts'
import { formatManifest, MANIFEST_VERSION, type Manifest } from '../../src/snapshot/manifest.ts'
import { type PrivateKey, sha256Hex, signBytes } from '../../src/snapshot/signature.ts'
import { recordSet } from '../snapshot/entries.ts'

/** What `web` is at first. */
export const WEB = 'web.shop.svc.cluster.local. 5 IN A 10.96.0.80'

/** A snapshot, signed. */
export type Published = {
  readonly signed: SignedManifest
  readonly manifest: Manifest
  /** Octets of the shards by their hash. */
  readonly shards: ReadonlyMap<string, Uint8Array>
}

/** Makes a snapshot of record sets, each given as the lines of a zone file. */
export async function snapshotOf(
  key: PrivateKey,
  sets: readonly string[],
  fields: Partial<Manifest> & { readonly shardCount?: number } = {},
): Promise<Published> {
  const { shardCount = 1, ...replaced } = fields
  const shards = new Map<string, Uint8Array>()
  const listed: { readonly sha256: string; readonly bytes: number }[] = []
  for (const bytes of buildShards(
    sets.map((lines) => recordSet(lines)),
    shardCount,
  )) {
    const sha256 = await sha256Hex(bytes)
    shards.set(sha256, bytes)
    listed.push({ sha256, bytes: bytes.length })
  }
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
    ...replaced,
  }
  return { signed: await signedBy(key, formatManifest(manifest)), manifest, shards }
}

/** Signs octets that stand for a manifest. */
export async function signedBy(key: PrivateKey, bytes: Uint8Array): Promise<SignedManifest> {
  return { bytes, signature: await signBytes(key, bytes) }
}
