/**
 * A snapshot in a folder: `manifest.json`, and `shards/SHA256` for each shard.
 * @module
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorText } from '../bytes/unknown.ts'
import { CommandError, whyUnreadable } from '../node/output.ts'
import { formatManifest, type Manifest, parseManifest } from '../snapshot/format/manifest.ts'
import { sha256Hex } from '../snapshot/format/signature.ts'
import { openShard } from '../snapshot/read/open-shard.ts'
import type { Shard } from '../snapshot/read/shard.ts'

const MANIFEST = 'manifest.json'
const SHARDS = 'shards'

/** Writes a snapshot; renames the manifest into place after the shards. */
export function writeSnapshotFolder(
  folder: string,
  manifest: Manifest,
  shards: ReadonlyMap<string, Uint8Array>,
): void {
  try {
    mkdirSync(join(folder, SHARDS), { recursive: true })
    for (const [sha256, bytes] of shards) writeFileSync(join(folder, SHARDS, sha256), bytes)
    writeFileSync(join(folder, `${MANIFEST}.new`), formatManifest(manifest))
    renameSync(join(folder, `${MANIFEST}.new`), join(folder, MANIFEST))
  } catch (error) {
    const reason = errorText(error)
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
