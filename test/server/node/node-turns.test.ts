import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { test } from 'vitest'
import { NODE_TURNS } from '../../../src/server/node/node-turns.ts'

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

test('each turn is for one of the tasks that wait, in the order in which they asked', async () => {
  const seen: string[] = []
  let turn = 0
  const count = (): void => {
    turn++
    if (turn < 10) setImmediate(count)
  }
  setImmediate(count)
  const task = async (name: string): Promise<void> => {
    for (let i = 0; i < 2; i++) {
      await NODE_TURNS.nextTurn()
      seen.push(`${name}${turn}`)
    }
  }
  await Promise.all([task('a'), task('b'), task('c')])
  assert.deepEqual(seen, ['a1', 'b2', 'c3', 'a4', 'b5', 'c6'])
})
