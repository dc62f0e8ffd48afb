import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { chooseKept, type Generation } from '../../src/gateway/generations.ts'

const MINUTE_MS = 60_000

/** Publishes one generation after the other, and tells how old those are that are kept, in minutes. */
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
