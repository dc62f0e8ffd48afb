import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  chooseKept,
  findOrderRefusal,
  type Generation,
} from '../../../src/gateway/snapshots/manifest-order.ts'
import { MANIFEST_VERSION, type Manifest } from '../../../src/snapshot/format/manifest.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const NOW_SECONDS = NOW_MS / 1000
const DAY = 86_400

/** A manifest from so many seconds after now, or before. */
function manifest(seconds: number, generation: number): Manifest {
  return {
    version: MANIFEST_VERSION,
    cluster: 'shop',
    generation,
    time: new Date(NOW_MS + 1000 * seconds).toISOString(),
    origins: [],
    ttlSeconds: 5,
    records: 0,
    sources: {},
    shards: [{ sha256: '0'.repeat(64), bytes: 100 }],
  }
}

describe('a manifest may follow another', () => {
  const ahead = NOW_SECONDS + DAY
  const cases: { name: string; before?: Manifest; next: Manifest; code?: string }[] = [
    { name: 'as the first', next: manifest(0, NOW_SECONDS) },
    { name: 'as the first, 300 s ahead', next: manifest(300, NOW_SECONDS + 300) },
    { name: 'but not 301 s ahead', next: manifest(301, 1), code: 'from_the_future' },
    {
      name: 'confirmed 300 s ahead',
      next: { ...manifest(0, 1), confirmed: manifest(300, 1).time },
    },
    {
      name: 'but not confirmed 301 s ahead',
      next: { ...manifest(0, 1), confirmed: manifest(301, 1).time },
      code: 'from_the_future',
    },
    {
      name: 'but not with a generation 301 s ahead',
      before: manifest(-10, NOW_SECONDS - 10),
      next: manifest(0, NOW_SECONDS + 301),
      code: 'from_the_future',
    },
    {
      name: 'with any generation that is one more',
      before: manifest(-10, ahead),
      next: manifest(0, ahead + 1),
    },
    {
      name: 'with the same generation and a later time',
      before: manifest(-10, 7),
      next: manifest(0, 7),
    },
    {
      name: 'but not with the same generation and time',
      before: manifest(0, 7),
      next: manifest(0, 7),
      code: 'not_newer',
    },
    {
      name: 'but not with an earlier generation',
      before: manifest(-10, 7),
      next: manifest(0, 6),
      code: 'not_newer',
    },
    { name: 'from 300 s before it', before: manifest(0, 7), next: manifest(-300, 8) },
    {
      name: 'but not from 301 s before it',
      before: manifest(0, 7),
      next: manifest(-301, 8),
      code: 'older_time',
    },
    {
      name: 'from any time before it, when that one is from the future',
      before: manifest(DAY, ahead),
      next: manifest(0, ahead + 1),
    },
    {
      name: 'but not with the generation of one from the future',
      before: manifest(DAY, ahead),
      next: manifest(0, ahead),
      code: 'not_newer',
    },
  ]
  for (const { name, before, next, code } of cases) {
    test(name, () => {
      assert.equal(findOrderRefusal(next, before, NOW_MS)?.code, code)
    })
  }

  test('and a refusal names both times', () => {
    const refusal = findOrderRefusal(manifest(DAY, 7), undefined, NOW_MS)
    assert.equal(
      refusal?.message,
      "The manifest's time 2026-01-02T00:00:00.000Z is 86400 s ahead of the gateway's clock; " +
        'set the clocks',
    )
  })
})

const MINUTE_MS = 60_000

/**
 * Publishes one generation after the other, and returns the ages of those that are kept, in
 * minutes.
 */
function ages(everyMs: number, count: number, max: number): number[] {
  let kept: Generation[] = []
  for (let i = 1; i <= count; i++) {
    kept = chooseKept([{ generation: i, timeMs: i * everyMs }, ...kept], max)
  }
  return kept.map(({ timeMs }) => (count * everyMs - timeMs) / MINUTE_MS)
}

describe('chooseKept', () => {
  test('keeps the newest, and before them one every ten minutes', () => {
    const [, , , , fifth = 0, ...older] = ages(1000, 7200, 20)
    assert.equal(fifth, 4 / 60)
    assert.equal(older.length, 12)
    const gaps = older.slice(1).map((age, i) => Math.round(age - (older[i] ?? 0)))
    assert.ok(gaps.every((gap) => gap === 10))
    assert.ok((older.at(-1) ?? 0) > 115)
  })

  test('keeps no more than it may, the oldest going first', () => {
    const kept = ages(1000, 36_000, 8)
    assert.equal(kept.length, 8)
    assert.ok((kept.at(-1) ?? 0) < 31)
  })

  test('keeps all when they are few', () => {
    assert.deepEqual(ages(60 * MINUTE_MS, 4, 20), [0, 60, 120, 180])
    assert.deepEqual(ages(60 * MINUTE_MS, 7, 20), [0, 60, 120, 180, 240, 300, 360])
  })

  test('keeps two of many changes within a second when it may keep two', () => {
    assert.equal(ages(1, 100, 2).length, 2)
  })
})
