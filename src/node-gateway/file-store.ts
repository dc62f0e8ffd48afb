/**
 * A cluster's snapshots in a folder: `manifest`, its signature in the first line, and
 * `shards/HASH`.
 * @module
 */
import { access, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClusterStore } from '../gateway/store.ts'
import { isMissing, readWhole, writeWhole } from './files.ts'

const NEWLINE = 0x0a
const SHARD_NAME = /^[0-9a-f]{64}$/

/** Makes the store; the folder comes into being with what is first written. */
export function createFileStore(folder: string): ClusterStore {
  const manifestPath = join(folder, 'manifest')
  const shardsPath = join(folder, 'shards')
  return {
    readManifest: async () => {
      const bytes = await readWhole(manifestPath)
      if (bytes === undefined) return undefined
      const end = bytes.indexOf(NEWLINE)
      const signature = new TextDecoder().decode(bytes.subarray(0, Math.max(0, end)))
      return { signature, bytes: bytes.slice(end + 1) }
    },
    readShard: async (sha256) =>
      SHARD_NAME.test(sha256) ? readWhole(join(shardsPath, sha256)) : undefined,
    missingShards: async (sha256s) => {
      const missing = await Promise.all(sha256s.map((sha256) => isAway(join(shardsPath, sha256))))
      return sha256s.filter((_, i) => missing[i])
    },
    writeShard: (sha256, bytes) => writeWhole(join(shardsPath, sha256), [bytes]),
    writeManifest: async ({ bytes, signature }, keptShards) => {
      await writeWhole(manifestPath, [new TextEncoder().encode(`${signature}\n`), bytes])
      const names = await namesIn(shardsPath)
      const dropped = names.filter((name) => SHARD_NAME.test(name) && !keptShards.has(name))
      for (const name of dropped) await rm(join(shardsPath, name), { force: true })
      return dropped
    },
  }
}

async function isAway(path: string): Promise<boolean> {
  try {
    await access(path)
    return false
  } catch (error) {
    if (isMissing(error)) return true
    throw error
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
