/**
 * A cluster's snapshots in a folder: `manifests/GENERATION`, a manifest with its signature in the
 * first line; `shards/HASH`; `pinned`, the number of the generation that is to be served; and
 * `turns`, by which several processes write one after the other. A broken manifest is set aside as
 * `manifests/GENERATION.broken`.
 * @module
 */
import { join } from 'node:path'
import type { ClusterStore, StoredManifest } from '../../gateway/snapshots/store.ts'
import { Files } from './files.ts'
import { joinManifest, splitManifest } from './manifest-file.ts'
import { WriterTurn } from './writer-turn.ts'

const SHARD_NAME = /^[0-9a-f]{64}$/
const GENERATION_NAME = /^\d{1,10}$/

/**
 * Creates the store; the first write creates the folder.
 * @param turn the turns of this process, which all stores of the folder take
 */
export function createFileStore(
  folder: string,
  files: Files = new Files(),
  turn: WriterTurn = new WriterTurn(join(folder, 'turns'), files),
): ClusterStore {
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
  const read = async (generation: number): Promise<StoredManifest | undefined> => {
    const bytes = await files.read(manifestPath(generation))
    return bytes && splitManifest(generation, bytes)
  }
  const shardNames = async (): Promise<readonly string[]> =>
    (await files.list(shardsPath)).filter((name) => SHARD_NAME.test(name))
  return {
    exclusive: (step) => turn.run(step),
    readManifest: async () => {
      const text = await files.read(pinPath)
      const [newest] = text === undefined ? await generations() : []
      if (text === undefined) return newest === undefined ? undefined : read(newest)
      const pinned = await read(Number(new TextDecoder().decode(text)))
      return pinned && { ...pinned, isPinned: true }
    },
    readManifests: async (countMax) => {
      const all = await Promise.all((await generations()).slice(0, countMax).map(read))
      return all.filter((one) => one !== undefined)
    },
    readShard: async (sha256) =>
      SHARD_NAME.test(sha256) ? files.read(join(shardsPath, sha256)) : undefined,
    missingShards: async (sha256s) => {
      const known = await files.statAll(sha256s.map((sha256) => join(shardsPath, sha256)))
      return sha256s.filter((_, i) => known[i] === undefined)
    },
    // The folder is synced once for all shards, before a manifest lists them.
    writeShard: (sha256, bytes, nowMs) => files.write(join(shardsPath, sha256), [bytes], nowMs),
    unlistedShards: async (listed) => {
      const names = (await shardNames()).filter((name) => !listed.has(name))
      const found = await files.statAll(names.map((name) => join(shardsPath, name)))
      return names.flatMap((sha256, i) => {
        const { size: bytes, mtimeMs: writtenMs } = found[i] ?? {}
        return bytes === undefined || writtenMs === undefined ? [] : [{ sha256, bytes, writtenMs }]
      })
    },
    dropShards: async (sha256s) => {
      for (const sha256 of sha256s) await files.remove(join(shardsPath, sha256))
    },
    writeManifest: async (generation, manifest, kept) => {
      for (const one of kept?.broken ?? []) {
        await files.rename(manifestPath(one), `${manifestPath(one)}.broken`)
      }
      await files.sync(shardsPath)
      await turn.check()
      await files.write(manifestPath(generation), [joinManifest(manifest)])
      await files.sync(manifestsPath)
      for (const one of await generations()) {
        if (kept === undefined || one === generation || kept.generations.has(one)) continue
        await files.remove(manifestPath(one))
      }
      await files.sweep(shardsPath)
      await files.sweep(manifestsPath)
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
