import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'vitest'
import { openMmsg } from '../../src/server/mmsg.ts'

const MODULE = import.meta.resolve('../../src/server/mmsg.ts')

/** Returns the output of a child process with this value of KUBEDOH_UDP_BATCHES. */
function openedWith(value: string): string {
  const script = `import('${MODULE}').then(({ openMmsg }) => console.log(typeof openMmsg()))`
  const env = { ...process.env, KUBEDOH_UDP_BATCHES: value }
  return execFileSync(process.execPath, ['-e', script], { env, encoding: 'utf8' }).trim()
}

test('KUBEDOH_UDP_BATCHES=0 disables the calls', () => {
  assert.equal(openedWith('0'), 'undefined')
})

test('receives nothing from a descriptor that is not a socket', () => {
  const mmsg = openMmsg()
  if (mmsg === undefined) return
  const headers = new Int32Array(64)
  assert.equal(mmsg.receive(-1, mmsg.addressOf(headers), 1), -1)
  assert.equal(mmsg.send(-1, mmsg.addressOf(headers), 1), -1)
})
