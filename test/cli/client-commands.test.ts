import assert from 'node:assert/strict'
import { test } from 'vitest'
import { CLIENT_COMMANDS } from '../../src/cli/client-commands.ts'

test('commands that resolve names take a client token', () => {
  const withToken = CLIENT_COMMANDS.filter(({ flags = [] }) => flags.includes('token'))
  assert.deepEqual(
    withToken.map(({ name }) => name),
    ['query', 'connect', 'explain'],
  )
})
