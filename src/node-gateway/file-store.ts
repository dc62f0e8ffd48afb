/**
 * A cluster's snapshots in a folder: `manifests/GENERATION`, a manifest with its signature in the
 * first line; `shards/HASH`; and `pinned`, the number of the generation that is to be served.
 * @module
 */
import { access, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type ClusterStore, DROPPED_MAX, type SignedManifest } from '../gateway/store.ts'
import { isMissing, namesIn, readWhole, writeWhole } from './files.ts'

const NEWLINE = 0x0a
const SHARD_NAME = /^[0-9a-f]{64}$/
const GENERATION_NAME = /^\d{1,10}$/

/** Makes the store; the folder comes into being with what is first written. */
export function createFileStore(folder: string): ClusterStore {
  const manifestsPath = join(folder, 'manifests')
  const shardsPath = join(folder, 'shards')
  const pinPath = join(folder, 'pinned')
  const manifestPath = (generation: number): string => join(manifestsPath, String(generation))
  const generations = async (): Promise<number[]> => {
    const names = await namesIn(manifestsPath)
    return names
      .filter((name) => GENERATION_NAME.test(name))
      .map(Number)
      .sort((a, b) => b - a)
  }
  const readAll = async (wanted: readonly number[]): Promise<SignedManifest[]> => {
    const read = await Promise.all(wanted.map((one) => readWhole(manifestPath(one))))
    return read.flatMap((bytes) => (bytes === undefined ? [] : [splitManifest(bytes)]))
  }
  return {
    readManifest: async () => {
      const text = await readWhole(pinPath)
      const pinned = text === undefined ? [] : [Number(new TextDecoder().decode(text))]
      const [manifest] = await readAll(
        text === undefined ? (await generations()).slice(0, 1) : pinned,
      )
      return manifest && text !== undefined ? { ...manifest, isPinned: true } : manifest
    },
    readManifests: async () => readAll(await generations()),
    readShard: async (sha256) =>
      SHARD_NAME.test(sha256) ? readWhole(join(shardsPath, sha256)) : undefined,
    missingShards: async (sha256s) => {
      const missing = await Promise.all(sha256s.map((sha256) => isAway(join(shardsPath, sha256))))
      return sha256s.filter((_, i) => missing[i])
    },
    writeShard: (sha256, bytes) => writeWhole(join(shardsPath, sha256), [bytes]),
    writeManifest: async (generation, { bytes, signature }, kept) => {
      const head = new TextEncoder().encode(`${signature}\n`)
      await writeWhole(manifestPath(generation), [head, bytes])
      for (const one of await generations()) {
        if (one === generation || kept.generations.has(one)) continue
        await rm(manifestPath(one), { force: true })
      }
      const names = await namesIn(shardsPath)
      const unlisted = names.filter((name) => SHARD_NAME.test(name) && !kept.shards.has(name))
      const dropped = unlisted.slice(0, DROPPED_MAX)
      for (const name of dropped) await rm(join(shardsPath, name), { force: true })
      return dropped
    },
    pin: async (generation) => {
      if (generation === undefined) await rm(pinPath, { force: true })
      else if (await isAway(manifestPath(generation))) return false
      else await writeWhole(pinPath, [new TextEncoder().encode(String(generation))])
      return true
    },
  }
}

function splitManifest(bytes: Uint8Array): SignedManifest {
  const end = bytes.indexOf(NEWLINE)
  const signature = new TextDecoder().decode(bytes.subarray(0, Math.max(0, end)))
  return { signature, bytes: bytes.slice(end + 1) }
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
