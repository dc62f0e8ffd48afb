/**
 * What every store of a cluster's snapshots promises, whatever keeps the bytes. Each promise is
 * tried on a new, empty store; so that it can run where a store runs, it needs only Web APIs.
 * @module
 */
import {
  type ClusterStore,
  DROPPED_MAX,
  type KeptGenerations,
  type SignedManifest,
} from '../../src/gateway/snapshots/store.ts'

/** A promise; `hold` rejects when it is broken. */
export type StorePromise = {
  readonly name: string
  readonly hold: (store: ClusterStore) => Promise<void>
}

const A = 'a'.repeat(64)
const B = 'b'.repeat(64)
const C = 'c'.repeat(64)
/** When shards are written. */
const NOW_MS = Date.UTC(2026, 0, 1)
/** Over the two million bytes that a row of a database may have. */
const LARGE_BYTES = 3 * 1024 * 1024 + 17

/** The promises. */
export const STORE_PROMISES: readonly StorePromise[] = [
  {
    name: 'has nothing at first',
    hold: async (store) => {
      same(await store.readManifest(), undefined)
      same(await store.readShard(A), undefined)
      same(await store.missingShards([A, B]), [A, B])
      same(await store.missingShards([]), [])
    },
  },
  {
    name: 'gives a shard back byte for byte, at any size',
    hold: async (store) => {
      for (const [sha256, size] of [
        [A, 1],
        [B, 1024 * 1024],
        [C, LARGE_BYTES],
      ] as const) {
        const bytes = pattern(size)
        await store.writeShard(sha256, bytes, NOW_MS)
        const read = await store.readShard(sha256)
        same(read?.length, size)
        same(
          read?.every((value, i) => value === bytes[i]),
          true,
        )
      }
    },
  },
  {
    name: 'lists what is missing in the order requested',
    hold: async (store) => {
      await store.writeShard(B, pattern(8), NOW_MS)
      same(await store.missingShards([C, B, A]), [C, A])
    },
  },
  {
    name: 'keeps what it was given, not the memory it was given in',
    hold: async (store) => {
      const bytes = pattern(8)
      await store.writeShard(A, bytes.subarray(2, 6), NOW_MS)
      const { bytes: text, signature } = manifest('1')
      await store.writeManifest(1, { bytes: text, signature }, keep([]))
      bytes.fill(0)
      same(textOf(await store.readShard(A)), textOf(pattern(8).subarray(2, 6)))
    },
  },
  {
    name: 'takes a shard twice',
    hold: async (store) => {
      await store.writeShard(A, pattern(8), NOW_MS)
      await store.writeShard(A, pattern(8), NOW_MS)
      same(textOf(await store.readShard(A)), textOf(pattern(8)))
    },
  },
  {
    name: 'gives the newest manifest and its signature',
    hold: async (store) => {
      await store.writeManifest(1, manifest('1'), keep([1]))
      await store.writeManifest(2, manifest('22'), keep([1, 2]))
      const read = await store.readManifest()
      same(textOf(read?.bytes), '22')
      same(read?.signature, 'signature of 22')
      same(read?.generation, 2)
    },
  },
  {
    name: 'lists the shards that are not in a set, with their sizes and times',
    hold: async (store) => {
      same(await store.unlistedShards(new Set()), [])
      await store.writeShard(A, pattern(8), NOW_MS)
      await store.writeShard(B, pattern(LARGE_BYTES), NOW_MS + 1000)
      await store.writeShard(C, pattern(9), NOW_MS)
      await store.writeShard(C, pattern(9), NOW_MS + 2000)
      const unlisted = [...(await store.unlistedShards(new Set([A])))]
      same(
        unlisted.sort((a, b) => a.bytes - b.bytes),
        [
          { sha256: C, bytes: 9, writtenMs: NOW_MS + 2000 },
          { sha256: B, bytes: LARGE_BYTES, writtenMs: NOW_MS + 1000 },
        ],
      )
    },
  },
  {
    name: `drops ${DROPPED_MAX} shards at a time, and no other`,
    hold: async (store) => {
      const hashes = Array.from({ length: DROPPED_MAX + 1 }, (_, i) => `${i}`.padStart(64, '0'))
      for (const sha256 of hashes) await store.writeShard(sha256, pattern(1), NOW_MS)
      const [kept = '', ...others] = hashes
      await store.dropShards(others)
      await store.dropShards([A])
      same(await store.missingShards(hashes), others)
      same(await store.readShard(others[0] ?? ''), undefined)
      same((await store.readShard(kept))?.length, 1)
    },
  },
  {
    name: 'replaces a shard, whatever its bytes were',
    hold: async (store) => {
      await store.writeShard(A, pattern(LARGE_BYTES), NOW_MS)
      await store.writeShard(A, pattern(8), NOW_MS)
      same(textOf(await store.readShard(A)), textOf(pattern(8)))
    },
  },
  {
    name: 'keeps the given generations, the newest first',
    hold: async (store) => {
      await store.writeManifest(7, manifest('7'), keep([7]))
      await store.writeManifest(9, manifest('9'), keep([7, 9]))
      await store.writeManifest(10, manifest('10'), keep([7, 10]))
      same((await store.readManifests()).map(({ bytes }) => textOf(bytes)).join(), '10,7')
      await store.writeManifest(10, manifest('10, later'), keep([10]))
      const [only, ...others] = await store.readManifests()
      same(textOf(only?.bytes), '10, later')
      same(only?.signature, 'signature of 10, later')
      same(others.length, 0)
    },
  },
  {
    name: 'gives the generation that is pinned until it is not',
    hold: async (store) => {
      same(await store.pin(1), false)
      same(await store.pin(undefined), true)
      await store.writeManifest(1, manifest('1'), keep([1]))
      await store.writeManifest(2, manifest('2'), keep([1, 2]))
      same(await store.pin(3), false)
      same((await store.readManifest())?.isPinned, undefined)
      same(await store.pin(1), true)
      await store.writeManifest(3, manifest('3'), keep([1, 2, 3]))
      const pinned = await store.readManifest()
      same(textOf(pinned?.bytes), '1')
      same(pinned?.isPinned, true)
      same((await store.readManifests()).map(({ bytes }) => textOf(bytes)).join(), '3,2,1')
      same(await store.pin(undefined), true)
      same(textOf((await store.readManifest())?.bytes), '3')
      same((await store.readManifest())?.isPinned, undefined)
    },
  },
]

function keep(generations: readonly number[]): KeptGenerations {
  return { generations: new Set(generations) }
}

function manifest(text: string): SignedManifest {
  return { bytes: new TextEncoder().encode(text), signature: `signature of ${text}` }
}

function pattern(size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => (i * 31 + (i >> 8)) & 255)
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes && new TextDecoder('latin1').decode(bytes)
}

function same(actual: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (a !== b) throw new Error(`expected ${b}, got ${a}`)
}
