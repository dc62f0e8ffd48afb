import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { ROOT } from '../../../../src/dns/names/name.ts'
import { EMPTY_REPLY, type ResourceRecord } from '../../../../src/dns/wire/message.ts'
import {
  type Entry,
  EntryStore,
  newEntry,
  secondsLeft,
} from '../../../../src/resolver/plugins/cache/store.ts'

function entry(ttlSeconds: number, storedMs = 0, answer: readonly ResourceRecord[] = []): Entry {
  return newEntry({ reply: { ...EMPTY_REPLY, answer }, ttlSeconds, storedMs, isAnswer: true })
}

/** A store that counts what it evicts. */
class CountingStore extends EntryStore {
  /** Entries that it has evicted. */
  evicted = 0

  constructor(entriesMax: number, bytesMax = Infinity) {
    super({ entriesMax, bytesMax, onEvicted: () => this.evicted++ })
  }

  /** Stores an entry; returns the number of evicted entries. */
  evicts(key: string, kept: Entry): number {
    const before = this.evicted
    this.put(key, kept)
    return this.evicted - before
  }
}

describe('secondsLeft', () => {
  const cases: { name: string; storedMs: number; nowMs: number; left: number }[] = [
    { name: 'is the TTL at first', storedMs: 1000, nowMs: 1000, left: 10 },
    { name: 'does not count a second that is not over', storedMs: 1000, nowMs: 1999, left: 10 },
    { name: 'counts a second that is over', storedMs: 1000, nowMs: 2000, left: 9 },
    { name: 'is nothing when the time is up', storedMs: 1000, nowMs: 11_000, left: 0 },
    { name: 'is less than nothing later', storedMs: 1000, nowMs: 12_000, left: -1 },
  ]
  for (const { name, storedMs, nowMs, left } of cases) {
    test(name, () => {
      assert.equal(secondsLeft(entry(10, storedMs), nowMs), left)
    })
  }
})

describe('EntryStore', () => {
  test('finds what was put', () => {
    const store = new CountingStore(1)
    const kept = entry(10)
    assert.equal(store.evicts('a', kept), 0)
    assert.equal(store.find('a', 9999), kept)
    assert.equal(store.find('b', 0), undefined)
  })

  test('forgets what is over', () => {
    const store = new CountingStore(1)
    store.put('a', entry(10))
    assert.equal(store.find('a', 10_000), undefined)
    assert.equal(store.size, 0)
  })

  test('finds entries expired for less than the limit, and drops those expired for longer', () => {
    const store = new CountingStore(1)
    store.put('a', entry(10))
    assert.ok(store.find('a', 10_000, 60))
    assert.ok(store.find('a', 69_999, 60))
    assert.equal(store.find('a', 70_000, 60), undefined)
    assert.equal(store.size, 0)
  })

  test('looks at what is over without a change', () => {
    const store = new CountingStore(1)
    const kept = entry(10)
    store.put('a', kept)
    for (let i = 0; i < 2; i++) assert.equal(store.peek('a'), kept)
    assert.equal(store.find('a', 10_000), undefined)
    assert.equal(store.peek('a'), undefined)
  })

  test('removes entries by key', () => {
    const store = new CountingStore(1)
    store.put('a', entry(10))
    store.remove('b')
    store.remove('a')
    assert.equal(store.find('a', 0), undefined)
  })

  test('evicts the least recently used of thousands of entries', () => {
    const ENTRIES = 3000
    const op = fc.record({ key: fc.nat({ max: 4000 }).map(String), isPut: fc.boolean() })
    const ops = fc.array(op, { minLength: 500, maxLength: 2000 })
    const property = fc.property(ops, (steps) => {
      const store = new CountingStore(ENTRIES)
      const model = new Map<string, Entry>()
      const use = (key: string, kept: Entry): void => {
        model.delete(key)
        model.set(key, kept)
      }
      for (let i = 0; i < ENTRIES; i++) {
        const kept = entry(10)
        store.put(String(i), kept)
        use(String(i), kept)
      }
      for (const { key, isPut } of steps) {
        const known = model.get(key)
        if (!isPut) {
          assert.equal(store.find(key, 0), known)
          if (known !== undefined) use(key, known)
          continue
        }
        const kept = entry(20)
        use(key, kept)
        const [oldest = ''] = model.size > ENTRIES ? model.keys() : []
        model.delete(oldest)
        assert.equal(store.evicts(key, kept), oldest === '' ? 0 : 1)
        assert.equal(store.peek(oldest), undefined)
      }
      assert.equal(store.size, ENTRIES)
    })
    fc.assert(property, { numRuns: 20 })
  })

  const record = (rdataBytes: number): ResourceRecord => {
    return { owner: ROOT, type: 1, class: 1, ttlSeconds: 10, rdata: new Uint8Array(rdataBytes) }
  }
  const large = (rdataBytes: number): Entry => {
    return entry(10, 0, [record(rdataBytes)])
  }

  test('evicts the least recently used entries for a large one, but keeps that one', () => {
    const store = new CountingStore(8, 20_000)
    assert.equal(store.evicts('a', large(5000)), 0)
    assert.equal(store.evicts('b', large(5000)), 0)
    assert.ok(store.find('a', 0))
    assert.equal(store.evicts('c', large(9000)), 1)
    assert.equal(store.find('b', 0), undefined)
    assert.ok(store.bytes > 14_000 && store.bytes <= 20_000)
    assert.equal(store.evicts('d', large(60_000)), 2)
    assert.equal(store.size, 1)
    assert.equal(store.evicts('e', { ...large(1), lastGood: large(20_000) }), 1)
    assert.ok(store.find('e', 0))
    store.remove('e')
    assert.equal(store.bytes, 0)
  })

  test('never exceeds its bytes, except for a single entry', () => {
    const step = fc.record({ key: fc.constantFrom(...'abcdefgh'), size: fc.nat({ max: 6000 }) })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const store = new CountingStore(8, 10_000)
        for (const { key, size } of steps) {
          const kept = large(size)
          store.put(key, kept)
          assert.equal(store.peek(key), kept)
          assert.ok(store.size === 1 || store.bytes <= 10_000)
        }
        for (const key of 'abcdefgh') store.remove(key)
        assert.equal(store.bytes, 0)
      }),
    )
  })

  test('forgets all when it is closed, and stores no more', () => {
    const store = new CountingStore(8)
    store.put('a', large(100))
    store.close()
    store.put('b', entry(10))
    assert.equal(store.find('a', 0), undefined)
    assert.equal(store.find('b', 0), undefined)
    assert.deepEqual([store.size, store.bytes, store.evicted], [0, 0, 0])
  })

  test('puts a newer entry in the place of an older one', () => {
    const store = new CountingStore(2)
    const newer = entry(20)
    store.put('a', entry(10))
    assert.equal(store.evicts('a', newer), 0)
    assert.equal(store.find('a', 0), newer)
    assert.equal(store.size, 1)
  })

  test('lets go of the entry that was used longest ago', () => {
    const store = new CountingStore(2)
    store.put('a', entry(10))
    store.put('b', entry(10))
    store.find('a', 0)
    assert.equal(store.evicts('c', entry(10)), 1)
    assert.equal(store.find('b', 0), undefined)
    assert.ok(store.find('a', 0))
    assert.ok(store.find('c', 0))
  })

  test('does as a list of the keys used last would', () => {
    const step = fc.record({ key: fc.constantFrom(...'abcde'), isPut: fc.boolean() })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step), (entriesMax, steps) => {
        const store = new CountingStore(entriesMax)
        let recent: string[] = []
        for (const { key, isPut } of steps) {
          const isKnown = recent.includes(key)
          if (isPut) {
            const goes = !isKnown && recent.length === entriesMax
            assert.equal(store.evicts(key, entry(10)), goes ? 1 : 0)
          } else assert.equal(store.find(key, 0) !== undefined, isKnown)
          if (isPut || isKnown) recent = [key, ...recent.filter((other) => other !== key)]
          recent = recent.slice(0, entriesMax)
          assert.equal(store.size, recent.length)
        }
      }),
    )
  })
})
