import assert from 'node:assert/strict'
import { test } from 'vitest'
import { FramedResponses } from '../../../src/server/sockets/framed-responses.ts'

test('puts each response behind its length, and starts over', () => {
  const responses = new FramedResponses()
  assert.ok(responses.add(Uint8Array.of(1, 2, 3, 4), 3))
  assert.ok(responses.add(new Uint8Array(300).fill(7), 257))
  assert.equal(responses.size, 5 + 259)
  const framed = responses.take()
  assert.deepEqual([...framed.subarray(0, 7)], [0, 3, 1, 2, 3, 1, 1])
  assert.deepEqual(
    [...framed.subarray(7)],
    Array.from({ length: 257 }, () => 7),
  )
  assert.equal(responses.size, 0)
  assert.ok(responses.add(Uint8Array.of(9), 1))
  assert.deepEqual([...framed.subarray(0, 3)], [0, 3, 1])
  assert.deepEqual([...responses.take()], [0, 1, 9])
})

test('has room for the longest response, and refuses what does not fit beside others', () => {
  const responses = new FramedResponses()
  const longest = new Uint8Array(65_535)
  assert.ok(responses.add(longest, longest.length))
  assert.equal(responses.add(longest, longest.length), false)
  assert.equal(responses.take().length, 65_537)
})
