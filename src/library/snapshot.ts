/**
 * `kubedoh/snapshot`: reads the shards and manifests that `kubedoh snapshot build` and the exporter
 * write.
 * @module
 */
export { SnapshotError } from '../snapshot/format/layout.ts'
export { type Manifest, parseManifest } from '../snapshot/format/manifest.ts'
export { openShard } from '../snapshot/read/open-shard.ts'
export type { Shard } from '../snapshot/read/shard.ts'
export { shardRecords } from '../snapshot/read/shard-records.ts'
