import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { test } from 'vitest'
import { recordOf } from '../../../src/dns/bytes/unknown.ts'
import { loadCFunctions } from '../../../src/server/node/c-functions.ts'
import { listenOnMoreHandles } from '../../../src/server/sockets/listening-handles.ts'
import { describeUnless } from '../../describe-unless.ts'

const CONNECTIONS = 64

/** Opens connections from another process while this one waits, so that all are there at once. */
function openConnections(port: number): void {
  const script = `const { connect } = require('node:net')
    let open = 0
    for (let i = 0; i < ${CONNECTIONS}; i++) connect(${port}, '127.0.0.1', () => {
      if (++open === ${CONNECTIONS}) process.exit()
    })`
  execFileSync(process.execPath, ['-e', script])
}

const found = loadCFunctions({ dup: { return: 'i32', arguments: ['i32'] } })

describeUnless(found ? false : 'needs node:ffi (Node 26 on 64-bit Linux)', 'more handles', () => {
  test('accept several connections per iteration of the event loop, and close', async (t) => {
    let accepted = 0
    /** The connections of each iteration that accepted any. */
    const iterations: number[] = []
    const create = () =>
      createServer((socket) => {
        socket.on('error', () => undefined)
        t.onTestFinished(() => void socket.destroy())
        accepted++
        if (iterations.length === 0) iterations.push(0)
        iterations[iterations.length - 1] = (iterations.at(-1) ?? 0) + 1
        setImmediate(() => {
          if (iterations.at(-1) !== 0) iterations.push(0)
        })
      })
    const server = create().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const more = listenOnMoreHandles(server, create)
    assert.equal(more.length, 7)
    for (const { fd } of more.map((one) => recordOf(Reflect.get(one, '_handle')))) {
      // O_CLOEXEC (octal 2000000): child processes do not hold the port.
      assert.match(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'), /^flags:\t02\d{6}$/m)
    }
    const bound = server.address()
    assert.ok(bound !== null && typeof bound === 'object')
    openConnections(bound.port)
    while (accepted < CONNECTIONS) await new Promise(setImmediate)
    assert.equal(accepted, CONNECTIONS)
    assert.ok(Math.max(...iterations) > 1, `${iterations}`)
    for (const one of [server, ...more]) one.close()
  })
})
