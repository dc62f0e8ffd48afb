/**
 * `kubedoh snapshot`: builds and prints snapshots without a gateway.
 * @module
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readObjectFiles } from '../../cluster/api/object-files.ts'
import { ClusterBuilder } from '../../cluster/follow/cluster-builder.ts'
import { namingOptions } from '../../cluster/follow/naming.ts'
import { nextGeneration } from '../../cluster/follow/snapshot-builder.ts'
import { fileReason } from '../../dns/bytes/unknown.ts'
import { nameOf } from '../../dns/names/name.ts'
import { outsideAddresses } from '../../server/node/local-addresses.ts'
import { CommandError, type Output, whyUnreadable } from '../../server/node/output.ts'
import { writeWholeFile } from '../../server/node/whole-file.ts'
import {
  CLUSTER_ID,
  formatManifest,
  MANIFEST_VERSION,
  type Manifest,
  parseManifest,
} from '../../snapshot/format/manifest.ts'
import { sha256Hex } from '../../snapshot/format/signature.ts'
import { openShard } from '../../snapshot/read/open-shard.ts'
import type { Shard } from '../../snapshot/read/shard.ts'
import { shardRecords } from '../../snapshot/read/shard-records.ts'
import { formatRecord } from '../../snapshot/records/zone-text.ts'
import type { Input } from '../flags/flags.ts'
import { loadExportDirectives } from './export-directive.ts'

/**
 * Builds a snapshot from object files and writes it to a folder.
 * @throws {CommandError} when `--cluster` is not a valid cluster ID
 */
export async function runSnapshotBuild(input: Input, output: Output): Promise<void> {
  const cluster = input.text('cluster') === '' ? 'cluster' : input.text('cluster')
  if (!CLUSTER_ID.test(cluster)) {
    throw new CommandError(`--cluster "${cluster}": use at most 63 characters of a-z, 0-9 and "-"`)
  }
  const { directive } = loadExportDirectives(input.text('conf'))
  const warn = (message: string): void => {
    output.stderr.write(`kubedoh: left out: ${message}\n`)
  }
  const naming = namingOptions(directive, outsideAddresses(input.env('LOCAL_IPS')))
  const builder = new ClusterBuilder(naming, warn)
  const { objects, warnings } = readObjectFiles(input.texts('objects'))
  for (const warning of warnings) warn(warning)
  for (const object of objects) builder.set(object)
  const { shards, records, ttlSeconds, origins } = builder.build()
  const hashed = await Promise.all(
    shards.map(async (bytes) => [await sha256Hex(bytes), bytes] as const),
  )
  const listed = hashed.map(([sha256, { length: bytes }]) => ({ sha256, bytes }))
  const now = Date.now()
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
  await writeSnapshotFolder(folder, manifest, new Map(hashed))
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

const MANIFEST = 'manifest.json'
const SHARDS = 'shards'

/** Writes a snapshot; renames the manifest into place after the shards. */
export async function writeSnapshotFolder(
  folder: string,
  manifest: Manifest,
  shards: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  try {
    mkdirSync(join(folder, SHARDS), { recursive: true })
    for (const [sha256, bytes] of shards) writeFileSync(join(folder, SHARDS, sha256), bytes)
    await writeWholeFile(join(folder, MANIFEST), [formatManifest(manifest)], { mode: 0o666 })
  } catch (error) {
    const reason = fileReason(error)
    throw new CommandError(`Cannot write a snapshot to ${folder}: ${reason}`, { cause: error })
  }
}

/**
 * Reads a snapshot.
 * @throws {CommandError} when a file is missing or does not match its hash in the manifest
 * @throws {SnapshotError} when one is malformed
 */
export async function readSnapshotFolder(
  folder: string,
): Promise<{ readonly manifest: Manifest; readonly shards: readonly Shard[] }> {
  const manifest = parseManifest(readBytes(join(folder, MANIFEST)))
  const shards: Shard[] = []
  for (const { sha256 } of manifest.shards) {
    const path = join(folder, SHARDS, sha256)
    const bytes = readBytes(path)
    if ((await sha256Hex(bytes)) !== sha256) {
      throw new CommandError(`${path}: its SHA-256 differs from its name; copy the snapshot again`)
    }
    shards.push(openShard(bytes))
  }
  return { manifest, shards }
}

function readBytes(path: string): Uint8Array {
  try {
    return new Uint8Array(readFileSync(path))
  } catch {
    throw new CommandError(`Cannot read ${path}: ${whyUnreadable(path)}`)
  }
}
