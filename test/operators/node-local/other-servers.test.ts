import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { test } from 'vitest'
import {
  isServedByOthers,
  newerCacheDetector,
} from '../../../src/operators/node-local/other-servers.ts'

test('a process is superseded by one that came after it, until that one ends', () => {
  let isServed = false
  const first = newerCacheDetector(() => isServed)
  assert.equal(first(), false)
  isServed = true
  const second = newerCacheDetector(() => isServed)
  assert.deepEqual([first(), second()], [true, false])
  isServed = false
  assert.deepEqual([first(), second()], [false, false])
  isServed = true
  assert.equal(second(), true)
})

test('distinguishes sockets of other processes from our own', async (t) => {
  const socket = createSocket({ type: 'udp4', reusePort: true })
  t.onTestFinished(() => void socket.close())
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  assert.equal(isServedByOthers(['127.0.0.1'], port), false)
  const program = `const socket = require('node:dgram').createSocket({ type: 'udp4', reusePort: true })
socket.bind(${port}, '127.0.0.1', () => console.log('bound'))`
  const other = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(other, 'exit')
  t.onTestFinished(async () => {
    other.kill()
    await ended
  })
  await once(other.stdout, 'data')
  assert.equal(isServedByOthers(['192.0.2.1', '127.0.0.1'], port), true)
  assert.equal(isServedByOthers(['127.0.0.2', '::1', 'localhost'], port), false)
})
