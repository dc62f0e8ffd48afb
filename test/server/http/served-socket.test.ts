import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { type PhaseTimes, ServedSocket } from '../../../src/server/http/served-socket.ts'
import { HANDSHAKE_MS } from '../../../src/server/keys/tls-service.ts'

const TIMES: PhaseTimes = { readMs: 20_000, idleMs: 30_000, writeMs: 5000 }
const GRACE_MS = 2000
const WHOLE = { complete: true }

/** A socket that counts calls of `destroy`. */
function fakeSocket(): { endCount: number; destroy: () => void } {
  return {
    endCount: 0,
    destroy() {
      this.endCount++
    },
  }
}

describe('ServedSocket', () => {
  const phases: {
    readonly name: string
    readonly enter: (one: ServedSocket) => void
    readonly ms: number
  }[] = [
    { name: 'a handshake', enter: () => undefined, ms: HANDSHAKE_MS },
    {
      name: 'the first request',
      enter: (one) => one.secured(0),
      ms: TIMES.readMs + GRACE_MS,
    },
    {
      name: 'a response',
      enter: (one) => {
        one.secured(0)
        one.requested(0, WHOLE)
      },
      ms: TIMES.writeMs,
    },
    {
      name: 'the next request',
      enter: (one) => {
        one.secured(0)
        one.requested(0, WHOLE)
        one.responded(0, 200)
      },
      ms: TIMES.idleMs + TIMES.readMs + GRACE_MS,
    },
  ]
  for (const { name, enter, ms } of phases) {
    test(`allows ${name} ${ms} ms in all`, () => {
      const socket = fakeSocket()
      const one = new ServedSocket(socket, true, 0)
      enter(one)
      one.check(ms - 1, TIMES)
      assert.equal(socket.endCount, 0)
      one.check(ms, TIMES)
      assert.equal(socket.endCount, 1)
    })
  }

  test('limits a handshake to the time of a request', () => {
    const socket = fakeSocket()
    new ServedSocket(socket, true, 0).check(100, { ...TIMES, readMs: 100 })
    assert.equal(socket.endCount, 1)
  })

  test('leaves the limits of HTTP/2 to its connection', () => {
    const socket = fakeSocket()
    const one = new ServedSocket(socket, true, 0)
    const calls: unknown[] = []
    one.secured(0, {
      ...{ idleSinceMs: 7, hasServed: true },
      check: (...args) => calls.push(args),
      leave: () => calls.push('leave'),
      finish: () => calls.push('finish'),
      close: () => calls.push('close'),
    })
    one.check(1e9, TIMES)
    one.leave()
    one.finish()
    one.close()
    assert.deepEqual(calls, [[1e9, TIMES], 'leave', 'finish', 'close'])
    assert.equal(socket.endCount, 0)
    assert.deepEqual([one.idleSinceMs, one.hasServed], [7, true])
  })

  test('continues the gate when a request is complete and answered', () => {
    let isWaiting = true
    const one = new ServedSocket(fakeSocket(), false, 0)
    one.bind({ writableNeedDrain: false, proceed: () => (isWaiting = false) })
    assert.equal(one.expected(), 'request')
    const request = { complete: false }
    one.requested(1, request)
    assert.equal(one.expected(), 'body')
    request.complete = true
    assert.deepEqual([one.expected(), isWaiting], ['wait', true])
    one.responded(2, 200)
    assert.deepEqual([one.expected(), isWaiting], ['request', false])
  })

  test('is busy until its last request has its response', () => {
    const one = new ServedSocket(fakeSocket(), false, 1)
    assert.equal(one.idleSinceMs, 1)
    one.requested(2, WHOLE)
    one.requested(3, WHOLE)
    assert.equal(one.idleSinceMs, Number.POSITIVE_INFINITY)
    one.responded(4, 200)
    assert.equal(one.idleSinceMs, Number.POSITIVE_INFINITY)
    one.responded(5, 200)
    assert.equal(one.idleSinceMs, 5)
  })

  test('closes when 41 requests arrive before the first response', () => {
    const socket = fakeSocket()
    const one = new ServedSocket(socket, false, 0)
    for (let i = 0; i < 40; i++) one.requested(0, WHOLE)
    assert.equal(socket.endCount, 0)
    one.requested(0, WHOLE)
    assert.equal(socket.endCount, 1)
  })

  test('is idle while its client does not read the response', () => {
    const one = new ServedSocket(fakeSocket(), false, 1)
    one.bind({ writableNeedDrain: true, proceed: () => undefined })
    one.requested(2, WHOLE)
    assert.equal(one.idleSinceMs, 2)
  })

  test('is idle while the body of its only request is incomplete', () => {
    const one = new ServedSocket(fakeSocket(), false, 1)
    const request = { complete: false }
    one.requested(2, request)
    assert.equal(one.idleSinceMs, 2)
    request.complete = true
    assert.equal(one.idleSinceMs, Number.POSITIVE_INFINITY)
    one.requested(3, { complete: false })
    assert.equal(one.idleSinceMs, Number.POSITIVE_INFINITY)
    one.responded(4, 200)
    assert.equal(one.idleSinceMs, 4)
  })

  for (const [status, hasServed] of [
    [200, true],
    [204, true],
    [401, false],
    [500, false],
  ] as const) {
    test(`${hasServed ? 'counts' : 'does not count'} status ${status} as served`, () => {
      const one = new ServedSocket(fakeSocket(), false, 0)
      one.requested(0, WHOLE)
      one.responded(0, status)
      assert.equal(one.hasServed, hasServed)
    })
  }
})
