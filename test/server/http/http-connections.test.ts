import assert from 'node:assert/strict'
import { describe, test, vi } from 'vitest'
import { HttpConnections } from '../../../src/server/http/http-connections.ts'
import type { BoundedSocket } from '../../../src/server/http/served-socket.ts'

const LIMITS = { connectionsMax: 2, connectionsPerClientMax: 2 }
const TIMES = { readMs: 1000, idleMs: 1000, writeMs: 5000 }

type FakeSocket = BoundedSocket & {
  isEnded: boolean
  end?: () => void
  once: (event: 'close', listener: () => void) => void
}

function fakeSocket(remotePort: number, remoteAddress = '192.0.2.1'): FakeSocket {
  const ends = { remoteAddress, remotePort, localAddress: '192.0.2.9', localPort: 443 }
  return {
    ...ends,
    isEnded: false,
    destroy() {
      this.isEnded = true
    },
    once(_, listener) {
      this.end = listener
    },
  }
}

describe('HttpConnections', () => {
  test('finds the connection of a TLS socket by its ends', (t) => {
    const connections = new HttpConnections(LIMITS, () => TIMES)
    t.onTestFinished(() => connections.close())
    const below = fakeSocket(1)
    const above = fakeSocket(1)
    assert.equal(connections.open(below, true), true)
    connections.find(above)?.destroy()
    assert.deepEqual([below.isEnded, above.isEnded], [true, false])
    assert.equal(connections.find(fakeSocket(2)), undefined)
    below.end?.()
    assert.equal(connections.find(above), undefined)
  })

  test('closes a socket that has already disconnected, and one over the limit', (t) => {
    const connections = new HttpConnections({ ...LIMITS, connectionsMax: 0 }, () => TIMES)
    t.onTestFinished(() => connections.close())
    const gone: FakeSocket = {
      isEnded: false,
      destroy: () => (gone.isEnded = true),
      once: () => undefined,
    }
    const more = fakeSocket(1)
    assert.deepEqual([connections.open(gone, false), connections.open(more, false)], [false, false])
    assert.deepEqual([gone.isEnded, more.isEnded], [true, true])
  })

  test('has room again after a connection closes', (t) => {
    const connections = new HttpConnections(LIMITS, () => TIMES)
    t.onTestFinished(() => connections.close())
    for (let port = 1; port <= 5; port++) {
      const socket = fakeSocket(port)
      connections.open(socket, false)
      connections.find(socket)?.requested(0, { complete: true })
      assert.equal(socket.isEnded, false)
      socket.end?.()
    }
  })

  test('closes all connections', () => {
    const connections = new HttpConnections(LIMITS, () => TIMES)
    const socket = fakeSocket(1)
    connections.open(socket, false)
    connections.close()
    assert.equal(socket.isEnded, true)
  })

  test('checks for slow connections every second until it is closed', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    let nowMs = 0
    const connections = new HttpConnections(
      LIMITS,
      () => TIMES,
      () => nowMs,
    )
    const [first, second] = [fakeSocket(1), fakeSocket(2)]
    connections.open(first, true)
    vi.advanceTimersByTime(1000)
    assert.equal(first.isEnded, false)
    nowMs = 1000
    vi.advanceTimersByTime(1000)
    assert.equal(first.isEnded, true)
    connections.close()
    connections.open(second, true)
    nowMs = 61_000
    vi.advanceTimersByTime(60_000)
    assert.equal(second.isEnded, false)
  })

  test('closes no connection when the system clock is set', (t) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
    const connections = new HttpConnections(LIMITS, () => TIMES)
    t.onTestFinished(() => connections.close())
    const socket = fakeSocket(1)
    connections.open(socket, true)
    vi.setSystemTime(86_400_000)
    vi.advanceTimersByTime(1000)
    assert.equal(socket.isEnded, false)
  })
})
