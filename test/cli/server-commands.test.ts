import assert from 'node:assert/strict'
import { test } from 'vitest'
import { SERVER_COMMANDS } from '../../src/cli/server-commands.ts'

test('commands in place of Go programs say that one dash works', () => {
  const dashed = SERVER_COMMANDS.filter(({ notes }) => notes?.join().includes('single dash'))
  assert.deepEqual(
    dashed.map(({ name }) => name),
    ['serve', 'node-cache'],
  )
})
