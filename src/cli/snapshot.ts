/**
 * `kubedoh snapshot`: builds and prints snapshots without a gateway.
 * @module
 */
import { nameOf } from '../dns/name.ts'
import { ClusterBuilder } from '../exporter/cluster-builder.ts'
import { namingOptions } from '../exporter/naming.ts'
import { readObjectFiles } from '../exporter/object-files.ts'
import { nextGeneration } from '../exporter/snapshot-builder.ts'
import { outsideAddresses } from '../node/local-addresses.ts'
import { CommandError, type Output } from '../node/output.ts'
import { formatRecord } from '../records/zone-text.ts'
import { CLUSTER_ID, MANIFEST_VERSION } from '../snapshot/format/manifest.ts'
import { sha256Hex } from '../snapshot/format/signature.ts'
import { shardRecords } from '../snapshot/read/shard-records.ts'
import { loadExportDirective } from './export-directive.ts'
import type { Input } from './flags.ts'
import { readSnapshotFolder, writeSnapshotFolder } from './snapshot-folder.ts'

/**
 * Builds a snapshot from object files and writes it to a folder.
 * @throws {CommandError} when `--cluster` is not a valid cluster ID
 */
export async function runSnapshotBuild(input: Input, output: Output): Promise<void> {
  const cluster = input.text('cluster') === '' ? 'cluster' : input.text('cluster')
  if (!CLUSTER_ID.test(cluster)) {
    throw new CommandError(`--cluster "${cluster}": use at most 63 characters of a-z, 0-9 and "-"`)
  }
  const directive = loadExportDirective(input.text('conf'))
  const warn = (message: string): void => {
    output.stderr.write(`kubedoh: left out: ${message}\n`)
  }
  const naming = namingOptions(directive, outsideAddresses(input.env('LOCAL_IPS')))
  const builder = new ClusterBuilder(naming, warn)
  const { objects, warnings } = readObjectFiles(input.texts('objects'))
  for (const warning of warnings) warn(warning)
  for (const object of objects) builder.set(object)
  const { shards, records, ttlSeconds, origins } = builder.build()
  const hashed = new Map<string, Uint8Array>()
  for (const bytes of shards) hashed.set(await sha256Hex(bytes), bytes)
  const now = Date.now()
  const listed = await Promise.all(
    shards.map(async (bytes) => ({ sha256: await sha256Hex(bytes), bytes: bytes.length })),
  )
  const manifest = {
    version: MANIFEST_VERSION,
    cluster,
    generation: nextGeneration(0, now),
    time: new Date(now).toISOString(),
    origins,
    ttlSeconds,
    records,
    sources: {},
    shards: listed,
  }
  const folder = input.text('out')
  writeSnapshotFolder(folder, manifest, hashed)
  const bytes = listed.reduce((sum, shard) => sum + shard.bytes, 0)
  const count = shards.length === 1 ? '1 shard' : `${shards.length} shards`
  output.stdout.write(`${folder}: ${records} records in ${count}, ${bytes} bytes\n`)
}

/** Prints all records of a snapshot under its first origin. */
export async function runSnapshotDump(
  { args: [folder = ''] }: Input,
  output: Output,
): Promise<void> {
  const { manifest, shards } = await readSnapshotFolder(folder)
  const [origin = '.'] = manifest.origins
  const { cluster, generation, time } = manifest
  output.stdout.write(`; cluster ${cluster}, generation ${generation}, ${time}\n`)
  for (const shard of shards) {
    for (const record of shardRecords(shard, nameOf(origin))) {
      output.stdout.write(`${formatRecord(record)}\n`)
    }
  }
}
