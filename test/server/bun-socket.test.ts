import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { BunSocket, BunStream, type RawSocket } from '../../src/server/bun-socket.ts'

/** A socket that takes so many bytes at a time, and tells what it was asked. */
class FakeSocket implements RawSocket {
  readonly alpnProtocol = 'h2'
  readonly remoteAddress = '192.0.2.7'
  readonly remotePort = 4711
  readonly localAddress = '192.0.2.1'
  readonly localPort = 443
  room = Number.POSITIVE_INFINITY
  written = ''
  readonly calls: string[] = []

  write(octets: Uint8Array): number {
    if (this.room === 0) return -1
    const taken = octets.subarray(0, this.room)
    this.room -= taken.length
    this.written += Buffer.from(taken).toString()
    return taken.length
  }

  readonly end = (): void => void this.calls.push('end')
  readonly terminate = (): void => void this.calls.push('terminate')
  readonly pause = (): void => void this.calls.push('pause')
  readonly resume = (): void => void this.calls.push('resume')
}

describe('BunSocket', () => {
  it('keeps what is not taken at once, in its order, and ends after it', () => {
    const raw = new FakeSocket()
    const socket = new BunSocket(raw)
    assert.equal(socket.write(Buffer.from('ab')), true)
    raw.room = 1
    assert.equal(socket.write(Buffer.from('cde')), false)
    assert.equal(socket.write(Buffer.from('fg')), false)
    socket.end()
    assert.deepEqual([raw.written, raw.calls], ['abc', []])
    raw.room = 3
    assert.equal(socket.flush(), false)
    assert.equal(raw.written, 'abcdef')
    raw.room = 10
    assert.equal(socket.flush(), true)
    assert.deepEqual([raw.written, raw.calls], ['abcdefg', ['end']])
  })

  it('copies of what is borrowed only what is not taken at once', () => {
    const raw = new FakeSocket()
    const socket = new BunSocket(raw)
    const borrowed = Buffer.from('abc')
    raw.room = 1
    assert.equal(socket.writeBorrowed(borrowed), false)
    borrowed.fill('x')
    assert.equal(socket.writeBorrowed(borrowed), false)
    borrowed.fill('y')
    raw.room = 10
    assert.equal(socket.flush(), true)
    assert.equal(socket.writeBorrowed(borrowed), true)
    assert.equal(raw.written, 'abcxxxyyy')
  })

  it('ends at once when nothing waits, and tells both ends', () => {
    const raw = new FakeSocket()
    const socket = new BunSocket(raw)
    socket.end()
    socket.destroy()
    assert.deepEqual([raw.calls, socket.destroyed], [['end', 'terminate'], true])
    const { remoteAddress, remotePort, localAddress, localPort } = socket
    assert.deepEqual(
      [remoteAddress, remotePort, localAddress, localPort],
      ['192.0.2.7', 4711, '192.0.2.1', 443],
    )
  })
})

describe('BunStream', () => {
  it('reads what comes, and has the socket wait when nobody does', async () => {
    const raw = new FakeSocket()
    const stream = new BunStream(new BunSocket(raw))
    const listener = stream.listener()
    listener.received(Buffer.alloc(100_000))
    assert.deepEqual(raw.calls, ['pause'])
    assert.equal(stream.read(1)?.length, 1)
    assert.equal(stream.read()?.length, 99_999)
    assert.ok(raw.calls.includes('resume'))
    listener.received(Buffer.from('end'))
    listener.ended()
    let size = 0
    for await (const chunk of stream) size += Buffer.from(chunk).length
    assert.equal(size, 3)
  })

  it('writes as the socket takes it', () => {
    const raw = new FakeSocket()
    const socket = new BunSocket(raw)
    const stream = new BunStream(socket)
    raw.room = 1
    stream.write('ab')
    stream.write('cd')
    assert.equal(raw.written, 'a')
    // The next is written before the first has returned, and is not all taken either.
    for (const written of ['ab', 'abc', 'abcd', 'abcd']) {
      raw.room = 1
      if (socket.flush()) stream.listener().drained()
      assert.equal(raw.written, written)
    }
    assert.equal(stream.writableLength, 0)
    stream.listener().closed()
  })

  it('ends after what was written', async () => {
    const raw = new FakeSocket()
    const stream = new BunStream(new BunSocket(raw))
    stream.resume()
    stream.write('ab')
    stream.destroySoon()
    await once(stream, 'close')
    assert.equal(raw.written, 'ab')
    assert.deepEqual(
      raw.calls.filter((call) => call !== 'resume'),
      ['end', 'terminate'],
    )
  })

  it('ends when nothing was read or written for long', async () => {
    const raw = new FakeSocket()
    const stream = new BunStream(new BunSocket(raw), 20)
    const begunMs = performance.now()
    const alive = setInterval(() => undefined, 5)
    await once(stream.resume(), 'close')
    clearInterval(alive)
    assert.ok(performance.now() - begunMs >= 15)
    assert.ok(raw.calls.includes('terminate'))
  })
})
