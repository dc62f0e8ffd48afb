import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { describe, type TestContext, test } from 'vitest'
import { type Expected, HttpGate } from '../../../src/server/http/http-gate.ts'
import { FairQueue } from '../../../src/server/sockets/fair-queue.ts'
import { within } from '../clients.ts'

type Gated = { readonly client: Socket; readonly source: Socket; readonly gate: HttpGate }

/** Connects a client to a gate with this `expected`. */
async function gated(t: TestContext, expected: () => Expected): Promise<Gated> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => undefined)
  const [source]: Socket[] = await once(server, 'connection')
  if (source === undefined) throw new TypeError('no socket')
  const queue = new FairQueue()
  t.onTestFinished(() => {
    client.destroy()
    source.destroy()
    server.close()
  })
  return { client, source, gate: new HttpGate(source, { client: '127.0.0.1', queue, expected }) }
}

describe('HttpGate', () => {
  test('exposes both ends of its socket', async (t) => {
    const { client, source, gate } = await gated(t, () => 'request')
    assert.equal(gate.remotePort, client.localPort)
    assert.deepEqual([gate.localPort, gate.encrypted], [source.localPort, false])
  })

  test('passes requests on 1 KiB at a time, and none during a response', async (t) => {
    let expected: Expected = 'request'
    const { client, gate } = await gated(t, () => expected)
    const sizes: number[] = []
    gate.on('data', (chunk: Buffer) => {
      sizes.push(chunk.length)
      expected = 'wait'
    })
    client.write(Buffer.alloc(3000))
    await within(once(gate, 'data'), 'the first bytes')
    assert.deepEqual(sizes, [1024])
    // The kernel may deliver them in several pieces.
    const sum = (): number => sizes.reduce((all, size) => all + size, 0)
    while (sum() < 3000) {
      const { length } = sizes
      expected = 'request'
      gate.proceed()
      gate.proceed()
      assert.ok(sizes.length <= length + 1, 'two chunks at once')
      await setImmediate()
    }
    assert.ok(sizes.every((size) => size <= 1024))
  })

  test('passes bodies on completely, in larger pieces', async (t) => {
    const { client, gate } = await gated(t, () => 'body')
    let size = 0
    let largest = 0
    gate.on('data', (chunk: Buffer) => {
      size += chunk.length
      largest = Math.max(largest, chunk.length)
    })
    client.end(Buffer.alloc(1_000_000))
    await within(once(gate, 'end'), 'the end')
    assert.equal(size, 1_000_000)
    assert.ok(largest <= 16_384, `${largest} bytes in one piece`)
  })

  test('pauses the socket while it waits', async (t) => {
    const { client, source } = await gated(t, () => 'wait')
    const all = Buffer.alloc(50_000_000)
    client.write(all)
    await once(source, 'pause')
    assert.ok(source.bytesRead <= 131_072, `${source.bytesRead} bytes were read`)
  })

  test('closes after the last write, and drains the socket so that it arrives', async (t) => {
    const { client, gate } = await gated(t, () => 'wait')
    let text = ''
    client.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    // More than the kernel buffers for both ends of the connection.
    client.write(Buffer.alloc(10_000_000))
    await once(gate.source, 'pause')
    gate.cork()
    gate.write('a ')
    gate.write('response')
    gate.uncork()
    gate.destroySoon()
    await within(once(client, 'end'), 'the end')
    assert.equal(text, 'a response')
    client.end()
    await within(once(gate, 'close'), 'the end of the gate')
  })

  test('closes when the client does not', async (t) => {
    const { gate } = await gated(t, () => 'wait')
    gate.destroySoon()
    await within(once(gate, 'close'), 'the end of the gate')
  })

  test('closes with its socket, and its socket with it', async (t) => {
    const first = await gated(t, () => 'request')
    first.source.destroy()
    await within(once(first.gate, 'close'), 'the end of the gate')
    const second = await gated(t, () => 'request')
    second.gate.destroy()
    await within(once(second.source, 'close'), 'the end of the socket')
  })

  test('emits timeout when its socket is idle', async (t) => {
    const { gate } = await gated(t, () => 'request')
    gate.setNoDelay(true).setKeepAlive(true).setTimeout(20)
    await within(once(gate, 'timeout'), 'the timeout')
  })
})
