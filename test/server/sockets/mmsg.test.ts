import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'vitest'
import { openMmsg } from '../../../src/server/sockets/mmsg.ts'
import { describeUnless } from '../../describe-unless.ts'

const missing = openMmsg() === undefined && 'this Node has no node:ffi, or this system no recvmmsg'

const MODULE = import.meta.resolve('../../../src/server/sockets/mmsg.ts')

/** Returns the output of a child process with this value of KUBEDOH_UDP_BATCHES. */
function openedWith(value: string): string {
  const script = `import('${MODULE}').then(({ openMmsg }) => console.log(typeof openMmsg()))`
  const env = { ...process.env, KUBEDOH_UDP_BATCHES: value }
  return execFileSync(process.execPath, ['-e', script], { env, encoding: 'utf8' }).trim()
}

test('KUBEDOH_UDP_BATCHES=0 disables the calls', () => {
  assert.equal(openedWith('0'), 'undefined')
})

describeUnless(missing, 'the calls', () => {
  test('exist by default', () => {
    assert.equal(openedWith(''), 'object')
  })

  test('receive nothing from a descriptor that is not a socket', () => {
    const mmsg = openMmsg()
    assert.ok(mmsg)
    const headers = new Int32Array(64)
    assert.equal(mmsg.receive(-1, mmsg.addressOf(headers), 1), -1)
    assert.equal(mmsg.send(-1, mmsg.addressOf(headers), 1), -1)
  })
})
