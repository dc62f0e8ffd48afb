/** @module */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { medianInterval, type Pair, pairedRow } from '../../bench/against/paired.ts'
import { type Contestant, runRound } from '../../bench/against/rounds.ts'

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => count - i)

describe('the interval of a median', () => {
  // From a table of the sign test at 5 %: the ranks that bound the median.
  for (const { count, ranks } of [
    { count: 6, ranks: [1, 6] },
    { count: 8, ranks: [1, 8] },
    { count: 9, ranks: [2, 8] },
    { count: 12, ranks: [3, 10] },
    { count: 20, ranks: [6, 15] },
    { count: 24, ranks: [7, 18] },
  ]) {
    test(`of ${count} numbers lies between ranks ${ranks.join(' and ')}`, () => {
      assert.deepEqual(medianInterval(numbers(count)), ranks)
    })
  }

  test('has no bounds with five numbers', () => {
    assert.deepEqual(medianInterval(numbers(5)), [-Infinity, Infinity])
  })
})

describe('a row of pairs', () => {
  const rowOf = (ratios: readonly number[]): ReturnType<typeof pairedRow> => {
    const pairs: Pair[] = ratios.map((ratio, i) => ({ ours: ratio * (i + 1), theirs: i + 1 }))
    return pairedRow({ bench: 'core', metric: 'A', unit: 'µs' }, pairs, 'a commit')
  }
  for (const { name, ratios, verdict } of [
    { name: 'holds at the same cost', ratios: Array(8).fill(1), verdict: 'holds' },
    { name: 'holds when it is faster', ratios: Array(8).fill(0.5), verdict: 'holds' },
    {
      name: 'is slower above 5 % in every round',
      ratios: [1.06, 1.07, 1.1, 1.08, 1.06, 1.06, 1.2, 1.3],
      verdict: 'slower',
    },
    {
      name: 'is unclear when rounds differ',
      ratios: [0.9, 1, 1.1, 1.2, 0.9, 1, 1.1, 1.2],
      verdict: 'unclear',
    },
    { name: 'is unclear with few rounds', ratios: [1.5, 1.5, 1.5], verdict: 'unclear' },
    {
      name: 'holds beside one disturbed round of nine',
      ratios: [1, 1, 1, 1, 9, 1, 1, 1, 1],
      verdict: 'holds',
    },
  ]) {
    test(name, () => {
      assert.equal(rowOf(ratios).verdict, verdict)
    })
  }

  test('has the median ratio, whatever the machine did between rounds', () => {
    const { ratio, low, high } = rowOf([1.01, 1.02, 1.03, 1.01, 1.02, 1.03, 1.02])
    assert.deepEqual(
      [ratio, low, high].map((one) => one?.toFixed(2)),
      ['1.02', '1.01', '1.03'],
    )
  })
})

describe('a round', () => {
  const build = (name: string): Parameters<typeof runRound>[1]['ours'] => ({
    ...{ name, command: '', entry: '', worker: '' },
  })
  const builds = { ours: build('a'), theirs: build('b') }

  for (const [round, order] of [
    [0, 'a+ b+ a b b a a- b-'],
    [1, 'b+ a+ b a a b b- a-'],
  ] as const) {
    test(`has the order ${order}`, async () => {
      const seen: string[] = []
      let clock = 0
      const start = ({ name }: { readonly name: string }): Promise<Contestant> => {
        seen.push(`${name}+`)
        return Promise.resolve({
          pids: [],
          start: { start: name === 'a' ? 1 : 2 },
          phases: [
            () => {
              seen.push(name)
              return Promise.resolve({ phase: clock++ })
            },
          ],
          end: () => {
            seen.push(`${name}-`)
            return Promise.resolve({})
          },
          stop: () => Promise.resolve(),
        })
      }
      const pairs = await runRound({ start, stop: () => Promise.resolve() }, builds, round)
      assert.equal(seen.join(' '), order)
      // A machine that gets slower all the time costs both the same.
      assert.deepEqual(pairs.get('phase'), { ours: 1.5, theirs: 1.5 })
      assert.deepEqual(pairs.get('start'), { ours: 1, theirs: 2 })
    })
  }
})
