import assert from 'node:assert/strict'
import { totalmem } from 'node:os'
import { test } from 'vitest'
import { memoryBytes } from '../../../src/server/node/memory-bytes.ts'

test.for([
  { name: 'the limit of the container', limit: () => 64 * 1024 * 1024, bytes: 64 * 1024 * 1024 },
  { name: 'what the machine has, without a limit', limit: () => 0, bytes: totalmem() },
  { name: 'what the machine has, with a limit beyond it', limit: () => 2 ** 63, bytes: totalmem() },
  { name: 'what the machine has, on Deno and Bun', limit: undefined, bytes: totalmem() },
])('the memory is $name', ({ limit, bytes }) => {
  assert.equal(memoryBytes({ constrainedMemory: limit }), bytes)
})
