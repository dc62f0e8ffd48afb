import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { followObject, IS_ANYTHING_NEW, NOTHING_NEW } from '../../worker/follow-object.ts'

type Listener = (event: object) => void

/** An isolate's end of a socket, and what it did with it. */
class FakeSocket {
  binaryType: 'blob' | 'arraybuffer' = 'blob'
  readonly sent: string[] = []
  readonly closed: number[] = []
  private readonly listeners: { readonly type: string; readonly listener: Listener }[] = []

  accept(): void {
    assert.equal(this.binaryType, 'arraybuffer')
  }

  addEventListener(type: string, listener: Listener): void {
    this.listeners.push({ type, listener })
  }

  send(message: string): void {
    this.sent.push(message)
  }

  close(code: number): void {
    this.closed.push(code)
  }

  /** Has something happen to the socket. */
  emit(type: string, event: object = {}): void {
    for (const one of this.listeners) if (one.type === type) one.listener(event)
  }
}

/** A watch that runs. */
function follow(waitMs: number): {
  socket: FakeSocket
  urls: string[]
  taken: unknown[]
  endTime: () => void
  ended: Promise<void>
} {
  const socket = new FakeSocket()
  const [urls, taken]: [string[], unknown[]] = [[], []]
  let task = (): void => undefined
  const object = {
    fetch: async (url: string) => {
      urls.push(url)
      return { status: 101, webSocket: socket }
    },
  }
  const ended = followObject(object, { subject: 'shop', version: '7 abc' }, waitMs, {
    after: (_delayMs, run) => {
      task = run
      return () => undefined
    },
    onMessage: (message) => {
      if (message === 'broken') throw new Error('it cannot be used')
      taken.push(message)
      return true
    },
  })
  return { socket, urls, taken, endTime: () => task(), ended }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a watch of an object', () => {
  test('says what it knows, takes what comes in its order, and asks at its end', async () => {
    const watch = follow(25_000)
    await settled()
    assert.deepEqual(watch.urls, ['https://object/follow?subject=shop&version=7+abc'])
    watch.socket.emit('message', { data: 'one' })
    watch.socket.emit('message', { data: new Uint8Array([1, 2]).buffer })
    await settled()
    assert.deepEqual(watch.taken, ['one', new Uint8Array([1, 2])])
    watch.endTime()
    assert.deepEqual(watch.socket.sent, [IS_ANYTHING_NEW])
    watch.socket.emit('message', { data: NOTHING_NEW })
    await watch.ended
    assert.deepEqual(watch.socket.closed, [1000])
  })

  test('that does not wait ends with the first update', async () => {
    const watch = follow(0)
    await settled()
    watch.endTime()
    assert.deepEqual(watch.socket.sent, [])
    watch.socket.emit('message', { data: 'one' })
    await watch.ended
    assert.deepEqual(watch.taken, ['one'])
  })

  test('ends when the object closes it, as for a deployment', async () => {
    const watch = follow(25_000)
    await settled()
    watch.socket.emit('message', { data: 'one' })
    watch.socket.emit('close')
    await watch.ended
  })

  test('fails with the connection, and by a message that cannot be used', async () => {
    const [one, other] = [follow(25_000), follow(25_000)]
    await settled()
    one.socket.emit('error')
    await assert.rejects(one.ended, /has closed the watch/)
    other.socket.emit('message', { data: 'broken' })
    await assert.rejects(other.ended, /cannot be used/)
    assert.deepEqual(other.socket.closed, [1000])
  })

  test('fails when the object refuses', async () => {
    const object = { fetch: async () => ({ status: 503, webSocket: null }) }
    const options = { after: () => () => undefined, onMessage: () => true }
    await assert.rejects(
      followObject(object, { subject: '', version: '' }, 0, options),
      /cannot follow the object: status 503/,
    )
  })
})
