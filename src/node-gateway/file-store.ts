/**
 * A cluster's snapshots in a folder: `manifests/GENERATION`, a manifest with its signature in the
 * first line; `shards/HASH`; and `pinned`, the number of the generation that is to be served.
 * @module
 */
import { join } from 'node:path'
import { type ClusterStore, DROPPED_MAX, type SignedManifest } from '../gateway/store.ts'
import { Files } from './files.ts'

const NEWLINE = 0x0a
const SHARD_NAME = /^[0-9a-f]{64}$/
const GENERATION_NAME = /^\d{1,10}$/

/** Creates the store; the first write creates the folder. */
export function createFileStore(folder: string, files: Files = new Files()): ClusterStore {
  const manifestsPath = join(folder, 'manifests')
  const shardsPath = join(folder, 'shards')
  const pinPath = join(folder, 'pinned')
  const manifestPath = (generation: number): string => join(manifestsPath, String(generation))
  const generations = async (): Promise<number[]> => {
    const names = await files.list(manifestsPath)
    return names
      .filter((name) => GENERATION_NAME.test(name))
      .map(Number)
      .sort((a, b) => b - a)
  }
  const readAll = async (wanted: readonly number[]): Promise<SignedManifest[]> => {
    const read = await Promise.all(wanted.map((one) => files.read(manifestPath(one))))
    return read.flatMap((bytes) => (bytes === undefined ? [] : [splitManifest(bytes)]))
  }
  return {
    readManifest: async () => {
      const text = await files.read(pinPath)
      const pinned = text === undefined ? [] : [Number(new TextDecoder().decode(text))]
      const [manifest] = await readAll(
        text === undefined ? (await generations()).slice(0, 1) : pinned,
      )
      return manifest && text !== undefined ? { ...manifest, isPinned: true } : manifest
    },
    readManifests: async () => readAll(await generations()),
    readShard: async (sha256) =>
      SHARD_NAME.test(sha256) ? files.read(join(shardsPath, sha256)) : undefined,
    missingShards: async (sha256s) => {
      const known = await Promise.all(sha256s.map((sha256) => files.stat(join(shardsPath, sha256))))
      return sha256s.filter((_, i) => known[i] === undefined)
    },
    // The folder is synced once for all shards, before a manifest lists them.
    writeShard: (sha256, bytes) => files.write(join(shardsPath, sha256), [bytes]),
    writeManifest: async (generation, { bytes, signature }, kept) => {
      const head = new TextEncoder().encode(`${signature}\n`)
      await files.sync(shardsPath)
      await files.write(manifestPath(generation), [head, bytes])
      await files.sync(manifestsPath)
      for (const one of await generations()) {
        if (one === generation || kept.generations.has(one)) continue
        await files.remove(manifestPath(one))
      }
      const names = await files.list(shardsPath)
      const unlisted = names.filter((name) => SHARD_NAME.test(name) && !kept.shards.has(name))
      const dropped = unlisted.slice(0, DROPPED_MAX)
      for (const name of dropped) await files.remove(join(shardsPath, name))
      await files.sweep(shardsPath)
      await files.sweep(manifestsPath)
      return dropped
    },
    pin: async (generation) => {
      if (generation === undefined) await files.remove(pinPath)
      else if ((await files.stat(manifestPath(generation))) === undefined) return false
      else await files.write(pinPath, [new TextEncoder().encode(String(generation))])
      await files.sync(folder)
      return true
    },
  }
}

function splitManifest(bytes: Uint8Array): SignedManifest {
  const end = bytes.indexOf(NEWLINE)
  const signature = new TextDecoder().decode(bytes.subarray(0, Math.max(0, end)))
  return { signature, bytes: bytes.slice(end + 1) }
}
