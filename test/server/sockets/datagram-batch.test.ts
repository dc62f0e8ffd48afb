import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { type TestContext, test } from 'vitest'
import { readUint16, writeUint16 } from '../../../src/dns/bytes/bytes.ts'
import type { Answer } from '../../../src/server/sockets/answer.ts'
import { DatagramBatch } from '../../../src/server/sockets/datagram-batch.ts'
import { type Mmsg, openMmsg } from '../../../src/server/sockets/mmsg.ts'
import { UdpServer } from '../../../src/server/sockets/udp-server.ts'
import { describeUnless } from '../../describe-unless.ts'
import { askUdp, echo, LOOPBACKS, overUdp, queryWith, within } from '../clients.ts'

const missing = openMmsg() === undefined && 'this Node has no node:ffi, or this system no recvmmsg'

type Counted = { readonly mmsg: Mmsg; readonly received: () => number; readonly sent: () => number }

/** Counts datagrams per call. @param refuses whether the nth call to send fails */
function counted(refuses: (call: number) => boolean = () => false): Counted {
  const real = openMmsg()
  assert.ok(real)
  let received = 0
  let sent = 0
  let calls = 0
  const mmsg: Mmsg = {
    receive: (fd, headers, count) => {
      const result = real.receive(fd, headers, count)
      received += Math.max(0, result)
      return result
    },
    send: (fd, headers, count) => {
      if (refuses(calls++)) return -1
      const result = real.send(fd, headers, count)
      sent += Math.max(0, result)
      return result
    },
    addressOf: real.addressOf,
  }
  return { mmsg, received: () => received, sent: () => sent }
}

type Burst = {
  readonly answer: Answer
  readonly messages: readonly Uint8Array[]
  /** Number of responses to wait for. */
  readonly expected: number
  readonly mmsg: Mmsg
  readonly address?: string
}

/** Sends a burst of messages to a server. Returns the responses by the ID of their query. */
async function burst(t: TestContext, run: Burst): Promise<Map<number, Uint8Array>> {
  const { answer, messages, expected, mmsg, address = '127.0.0.1' } = run
  const server = new UdpServer(address, overUdp(answer), { mmsg })
  const port = await server.listen(address, 0)
  t.onTestFinished(() => server.close())
  const client = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  t.onTestFinished(() => void client.close())
  await bound(client, address)
  const responses = new Map<number, Uint8Array>()
  const all = new Promise<void>((resolve) => {
    client.on('message', (message) => {
      responses.set(readUint16(message, 0), message)
      if (responses.size === expected) resolve()
    })
  })
  for (const message of messages) client.send(message, port, address)
  await within(all, `${expected} responses`)
  return responses
}

async function bound(socket: Socket, address: string): Promise<void> {
  await new Promise<void>((resolve) => socket.bind(0, address, resolve))
  socket.setRecvBufferSize(1024 * 1024)
}

/** Answers in each way: in the writer, in memory of its own, later, or not at all. */
const mixed: Answer = (message, _client, writer) => {
  const id = readUint16(message, 0)
  const response = echo(message)
  if (id % 4 === 0) return Promise.resolve().then(() => echo(message))
  if (id % 4 === 1) return response
  writer.bytes.set(response)
  return response.length
}

describeUnless(missing, 'a batch of datagrams', () => {
  for (const address of LOOPBACKS) {
    test(`is answered at ${address}, each response for its query`, async (t) => {
      const calls = counted()
      const messages = Array.from({ length: 300 }, (_, id) => queryWith(id, `n${id}.example.org`))
      const responses = await burst(t, {
        answer: mixed,
        messages,
        expected: messages.length,
        mmsg: calls.mmsg,
        address,
      })
      for (const [id, message] of messages.entries()) {
        assert.deepEqual(new Uint8Array(responses.get(id) ?? []), new Uint8Array(echo(message)))
      }
      assert.ok(calls.received() > 0 && calls.sent() > 0, 'some went by the calls')
    })
  }

  test('cuts a query over 4,096 bytes, and sends a long response separately', async (t) => {
    const sizes: number[] = []
    const answer: Answer = (message, _client, writer) => {
      sizes.push(message.length)
      const size = readUint16(message, 0) === 7 ? 9000 : 12
      writer.bytes.set(message.subarray(0, 12))
      return size
    }
    const calls = counted()
    const messages = Array.from({ length: 100 }, (_, id) => {
      const message = new Uint8Array(id === 50 ? 6000 : 12)
      writeUint16(message, 0, id)
      return message
    })
    const run = { answer, messages, expected: 100, mmsg: calls.mmsg }
    const responses = await burst(t, run)
    assert.equal(responses.get(7)?.length, 9000)
    assert.equal(responses.get(50)?.length, 12)
    assert.ok(sizes.every((size) => size === 12 || size === 4096))
  })

  test('falls back to the socket when the system call fails', async (t) => {
    const calls = counted((call) => call % 2 === 0)
    const messages = Array.from({ length: 200 }, (_, id) => queryWith(id))
    const answer: Answer = (message, _client, writer) => {
      writer.bytes.set(echo(message))
      return message.length
    }
    const responses = await burst(t, { answer, messages, expected: 200, mmsg: calls.mmsg })
    assert.equal(responses.size, 200)
  })

  test('leaks no bytes of one datagram into the next, whatever their sizes', async (t) => {
    let seed = 1
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
      return seed % below
    }
    for (let round = 0; round < 20; round++) {
      const messages = Array.from({ length: 120 }, (_, id) => {
        const message = Uint8Array.from({ length: 2 + random(1400) }, () => random(256))
        writeUint16(message, 0, id)
        return message
      })
      const answer: Answer = (message, _client, writer) => {
        writer.bytes.set(message)
        return message.length
      }
      const calls = counted()
      const responses = await burst(t, { answer, messages, expected: 120, mmsg: calls.mmsg })
      for (const [id, message] of messages.entries()) {
        assert.deepEqual(new Uint8Array(responses.get(id) ?? []), message)
      }
    }
  })
})

describeUnless(missing, 'a server that keeps up with its queries', () => {
  test('receives batches in a row while they are neither full nor small', async (t) => {
    const { mmsg, received } = counted()
    const receive: Mmsg['receive'] = (fd, headers) => mmsg.receive(fd, headers, 20)
    const messages = Array.from({ length: 81 }, (_, id) => queryWith(id))
    await burst(t, { answer: echo, messages, expected: 81, mmsg: { ...mmsg, receive } })
    // One message wakes the server, all others come in four batches.
    assert.equal(received(), 80)
  })

  test('looks for a batch with few of them', async (t) => {
    const calls = counted()
    let looks = 0
    const mmsg: Mmsg = {
      ...calls.mmsg,
      receive: (fd, headers, count) => {
        looks++
        return calls.mmsg.receive(fd, headers, count)
      },
    }
    const server = new UdpServer('127.0.0.1', overUdp(echo), { mmsg })
    const port = await server.listen('127.0.0.1', 0)
    t.onTestFinished(() => server.close())
    for (let id = 0; id < 90; id++) await askUdp('127.0.0.1', port, queryWith(id))
    assert.equal(looks, 10)
  })
})

test('takes 64 responses a batch, and none of a batch that failed', () => {
  const sent: number[] = []
  const mmsg: Mmsg = {
    receive: () => 64,
    send: (_fd, _headers, count) => {
      sent.push(count)
      return count
    },
    addressOf: () => 0n,
  }
  const batch = new DatagramBatch(mmsg, -1)
  const response = new Uint8Array(12)
  const respond = (): boolean => batch.respond(0, response, response.length)
  batch.receive()
  for (let i = 0; i < 64; i++) assert.equal(respond(), true)
  assert.equal(respond(), false)
  batch.receive()
  assert.equal(respond(), true)
  batch.flush(() => undefined)
  assert.deepEqual(sent, [1])
})
