/**
 * What every store of shards near their readers promises, whatever keeps the bytes. A store may
 * remember that a key was not there, as KV does for a minute: none of these asks for a key first
 * and puts it later. Each promise has keys of its own, so all can be tried on one store; so that
 * they can run where a store runs, they need only Web APIs.
 * @module
 */
import type { BlobStore } from '../../src/gateway/snapshots/blob-store.ts'
import { PUBLISHED_SHARD_BYTES_MAX } from '../../src/gateway/snapshots/publish-routes.ts'
import { DROPPED_MAX } from '../../src/gateway/snapshots/store.ts'

/** A promise; `hold` rejects when it is broken. */
export type BlobPromise = {
  readonly name: string
  readonly hold: (store: BlobStore) => Promise<void>
}

/** As long as a key gets: a cluster's identifier has 63 characters at the most. */
const LONG = `shards/${'c'.repeat(63)}/${'f'.repeat(64)}`

/** The promises. */
export const BLOB_PROMISES: readonly BlobPromise[] = [
  {
    name: 'has nothing under a key that nothing was put under',
    hold: async (store) => {
      same(await store.get('none'), undefined)
    },
  },
  {
    name: 'gives back byte for byte what was put, from none to the largest shard',
    hold: async (store) => {
      for (const size of [0, 1, 1024 * 1024, PUBLISHED_SHARD_BYTES_MAX]) {
        const bytes = pattern(size)
        await store.put(`size/${size}`, bytes)
        const read = await store.get(`size/${size}`)
        same(read?.length, size)
        same(read && differs(read, bytes), false)
      }
    },
  },
  {
    name: 'takes keys as long as they get',
    hold: async (store) => {
      await store.put(LONG, pattern(3))
      same(textOf(await store.get(LONG)), textOf(pattern(3)))
    },
  },
  {
    name: 'keeps what it was given, not the memory it was given in',
    hold: async (store) => {
      const bytes = pattern(9)
      await store.put('view', bytes.subarray(2, 6))
      bytes.fill(0)
      same(textOf(await store.get('view')), textOf(pattern(9).subarray(2, 6)))
    },
  },
  {
    name: 'gives what nobody else may change',
    hold: async (store) => {
      await store.put('given', pattern(4))
      const read = await store.get('given')
      read?.fill(0)
      same(textOf(await store.get('given')), textOf(pattern(4)))
    },
  },
  {
    name: 'takes the same key and bytes twice',
    hold: async (store) => {
      await store.put('twice', pattern(8))
      await store.put('twice', pattern(8))
      same(textOf(await store.get('twice')), textOf(pattern(8)))
    },
  },
  {
    name: 'takes and gives many at once',
    hold: async (store) => {
      const sizes = Array.from({ length: 32 }, (_, i) => i + 1)
      await Promise.all(sizes.map((size) => store.put(`many/${size}`, pattern(size))))
      const read = await Promise.all(sizes.map((size) => store.get(`many/${size}`)))
      same(
        read.map(textOf),
        sizes.map((size) => textOf(pattern(size))),
      )
    },
  },
  {
    name: 'removes the given keys, and no others',
    hold: async (store) => {
      for (const key of ['gone/1', 'gone/2', 'gone']) await store.put(key, pattern(5))
      await store.remove([])
      await store.remove(['gone/1', 'gone/2', 'gone/never was'])
      same(await store.get('gone/1'), undefined)
      same(await store.get('gone/2'), undefined)
      same(textOf(await store.get('gone')), textOf(pattern(5)))
    },
  },
  {
    name: `removes ${DROPPED_MAX} keys at a time`,
    hold: async (store) => {
      const keys = Array.from({ length: DROPPED_MAX }, (_, i) => `all/${i}`)
      const some = [0, DROPPED_MAX - 1]
      for (const i of some) await store.put(`all/${i}`, pattern(5))
      await store.remove(keys)
      for (const i of some) same(await store.get(`all/${i}`), undefined)
    },
  },
]

function pattern(size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  for (let i = 0; i < size; i++) bytes[i] = (i * 31 + (i >> 8)) & 255
  return bytes
}

/** A loop: sixteen million calls of a function would take a second. */
function differs(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < b.length; i++) if (a[i] !== b[i]) return true
  return false
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes && new TextDecoder('latin1').decode(bytes)
}

function same(actual: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (a !== b) throw new Error(`expected ${b}, got ${a}`)
}
