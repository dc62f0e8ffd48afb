import assert from 'node:assert/strict'
import { test } from 'vitest'
import { type BunFfi, boundReceiveBuffers } from '../../../src/server/http/bun-listeners.ts'
import { loadCFunctions } from '../../../src/server/node/c-functions.ts'
import { describeUnless } from '../../describe-unless.ts'
import { bytesPerTurn } from '../bytes-per-turn.ts'

const found = loadCFunctions({
  getsockopt: { return: 'i32', arguments: ['i32', 'i32', 'i32', 'pointer', 'pointer'] },
  setsockopt: { return: 'i32', arguments: ['i32', 'i32', 'i32', 'pointer', 'u32'] },
})

/** Calls the C library as bun:ffi does. */
function likeBun(): BunFfi {
  assert.ok(found)
  const { functions, addressOf } = found
  const symbols: ReturnType<BunFfi['dlopen']>['symbols'] = {
    getsockopt: (fd, level, name, value, size) =>
      functions.getsockopt(fd, level, name, addressOf(value), addressOf(size)),
    setsockopt: (fd, level, name, value, size) =>
      functions.setsockopt(fd, level, name, addressOf(value), size),
  }
  return { dlopen: () => ({ symbols }) }
}

const missing = found === undefined && 'this Node has no node:ffi, or this system is not Linux'

describeUnless(missing, 'receive buffers of listening sockets', () => {
  test('bound what a connection brings to one iteration of the event loop', async (t) => {
    const most = await bytesPerTurn(t, () => boundReceiveBuffers(likeBun))
    assert.ok(most < 65_536, `${most} bytes`)
  })

  test('stay as they are without bun:ffi', async (t) => {
    const fail = (): BunFfi => {
      throw new Error('no such module')
    }
    const most = await bytesPerTurn(t, () => boundReceiveBuffers(fail))
    assert.ok(most >= 65_536, `${most} bytes`)
  })
})
