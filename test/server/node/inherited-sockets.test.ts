import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readInherited, takeInherited } from '../../../src/server/node/inherited-sockets.ts'

// test/clients/operations.suite.ts passes sockets to a process, as systemd does.
describe('inherited sockets', () => {
  const { pid } = process
  for (const environment of [
    {},
    { LISTEN_FDS: '2' },
    { LISTEN_FDS: '2', LISTEN_PID: String(pid + 1) },
    { LISTEN_FDS: '0', LISTEN_PID: String(pid) },
    { LISTEN_FDS: '-1', LISTEN_PID: String(pid) },
    { LISTEN_FDS: 'two', LISTEN_PID: String(pid) },
  ]) {
    test(`are none with ${JSON.stringify(environment).replace(String(pid + 1), 'PID')}`, () => {
      assert.deepEqual(readInherited(environment, pid), [])
    })
  }

  test('skip descriptors that are no sockets, and read at most 256', () => {
    const environment = { LISTEN_FDS: '1e9', LISTEN_PID: String(pid) }
    for (const { fd } of readInherited(environment, pid)) assert.ok(fd >= 3 && fd < 259)
  })

  test('are not given to a process without them', () => {
    assert.equal(takeInherited('udp', '127.0.0.1', 53), undefined)
  })
})
