import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { test } from 'vitest'
import { NODE_TURNS } from '../../src/node/node-turns.ts'

test('sockets are read before the next turn, and its clock moves on', async (t) => {
  const socket = createSocket('udp4')
  t.onTestFinished(() => void socket.close())
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const { elapsed, nextTurn } = NODE_TURNS
  const startMs = elapsed()
  let isRead = false
  socket.once('message', () => {
    isRead = true
  })
  await new Promise((resolve) => socket.send('x', socket.address().port, '127.0.0.1', resolve))
  let turns = 0
  while (!isRead && turns++ < 1000) await nextTurn()
  assert.ok(isRead)
  assert.ok(elapsed() > startMs)
})
