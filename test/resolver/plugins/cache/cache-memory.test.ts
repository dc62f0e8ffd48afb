import assert from 'node:assert/strict'
import { test } from 'vitest'
import { Metrics } from '../../../../src/dns/telemetry/metrics.ts'
import { EMPTY_REPLY } from '../../../../src/dns/wire/message.ts'
import { CacheMemory, cacheMemoryOf } from '../../../../src/resolver/plugins/cache/cache-memory.ts'
import { EntryStore, newEntry } from '../../../../src/resolver/plugins/cache/store.ts'

const LIMIT_BYTES = 40_000

/** Stores in a memory of a quarter of 40,000 bytes, and the names of those that evicted. */
function openStores(): { readonly stores: EntryStore[]; readonly evicted: number[] } {
  const memory = new CacheMemory(LIMIT_BYTES)
  const evicted: number[] = []
  const stores = [0, 1, 2].map(
    (i) =>
      new EntryStore({
        ...{ entriesMax: 100, bytesMax: 100_000, memory },
        onEvicted: () => evicted.push(i),
      }),
  )
  return { stores, evicted }
}

const entry = newEntry({ reply: EMPTY_REPLY, ttlSeconds: 60, storedMs: 0, isAnswer: true })

test('the largest of the stores that share memory makes room', () => {
  const { stores, evicted } = openStores()
  const [most, few] = stores
  for (let i = 0; i < 7; i++) most?.put(`m${i}`, entry)
  for (let i = 0; i < 3; i++) few?.put(`f${i}`, entry)
  assert.deepEqual(evicted, [])
  few?.put('f3', entry)
  assert.deepEqual(evicted, [0])
  assert.equal(most?.peek('m0'), undefined)
  assert.equal(few?.size, 4)
})

test('stores that share memory never have more than their part', () => {
  const { stores } = openStores()
  for (let i = 0; i < 300; i++) stores[i % 3]?.put(`n${i}`, entry)
  const bytes = stores.reduce((sum, one) => sum + one.bytes, 0)
  assert.ok(bytes <= LIMIT_BYTES / 4 && bytes > LIMIT_BYTES / 5, `${bytes}`)
})

test('a store that closes gives its memory back', () => {
  const { stores, evicted } = openStores()
  for (let i = 0; i < 10; i++) stores[0]?.put(`n${i}`, entry)
  stores[0]?.close()
  evicted.length = 0
  for (let i = 0; i < 10; i++) stores[1]?.put(`n${i}`, entry)
  assert.deepEqual([evicted, stores[0]?.size, stores[1]?.size], [[], 0, 10])
  stores[0]?.put('late', entry)
  assert.equal(stores[0]?.size, 0)
})

test('a process has one memory for its caches, across reloads', () => {
  const metrics = new Metrics()
  assert.equal(cacheMemoryOf(metrics, 1), cacheMemoryOf(metrics, 1))
  assert.notEqual(cacheMemoryOf(metrics), cacheMemoryOf(new Metrics()))
})
