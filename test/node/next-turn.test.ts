import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nextTurn } from '../../src/node/next-turn.ts'

describe('nextTurn', () => {
  test('resumes one task in each turn, in the order of their calls', async () => {
    const seen: string[] = []
    let turn = 0
    const count = (): void => {
      turn++
      if (turn < 10) setImmediate(count)
    }
    setImmediate(count)
    const task = async (name: string): Promise<void> => {
      for (let i = 0; i < 2; i++) {
        await nextTurn()
        seen.push(`${name}${turn}`)
      }
    }
    await Promise.all([task('a'), task('b'), task('c')])
    assert.deepEqual(seen, ['a1', 'b2', 'c3', 'a4', 'b5', 'c6'])
  })
})
