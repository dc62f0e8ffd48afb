import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { describe, type TestContext, test } from 'vitest'
import { loadCFunctions } from '../../../src/server/node/c-functions.ts'
import type { Answer } from '../../../src/server/sockets/answer.ts'
import { allowReuse, CatchAll } from '../../../src/server/sockets/catch-all.ts'
import { freePort } from '../../free-port.ts'
import { askUdp, echo, overUdp, queryWith } from '../clients.ts'

const HAS_FUNCTIONS = loadCFunctions({ close: { return: 'i32', arguments: ['i32'] } }) !== undefined

async function open(t: TestContext, answer: Answer): Promise<number> {
  t.skip(!HAS_FUNCTIONS, 'needs the foreign function interface of Node 26 on 64-bit Linux')
  const port = await freePort()
  const opened = CatchAll.open(port, false, overUdp(answer))
  t.onTestFinished(() => opened?.close())
  assert.ok(opened)
  return port
}

describe('CatchAll', () => {
  test('answers from the address that was queried, now and later', async (t) => {
    const clients: unknown[] = []
    const port = await open(t, (message, { transport, localAddress, localPort, address }) => {
      clients.push({ transport, localAddress, localPort, address })
      return clients.length % 2 === 0 ? Promise.resolve(echo(message)) : echo(message)
    })
    for (let i = 1; i < 5; i++) {
      const address = `127.0.${i}.9`
      const query = queryWith(i)
      assert.deepEqual(await askUdp(address, port, query), { message: echo(query), address })
    }
    const local = { localAddress: '::', localPort: port }
    assert.deepEqual(clients[0], { transport: 'udp', ...local, address: '127.0.0.1' })
  })

  test('sends responses from the writer', async (t) => {
    const port = await open(t, (message, _, writer) => {
      writer.bytes.set(echo(message))
      return message.length
    })
    const { message } = await askUdp('127.3.3.3', port, queryWith(3))
    assert.deepEqual(message, echo(queryWith(3)))
  })

  test('cuts long messages, as other sockets do, and goes on without a response', async (t) => {
    const lengths: number[] = []
    const port = await open(t, (message) => {
      lengths.push(message.length)
      return message.length > 100 ? undefined : echo(message)
    })
    await askUdp('127.0.1.1', port, new Uint8Array(10_000), queryWith(4))
    assert.deepEqual(lengths, [4096, queryWith(4).length])
  })

  test('is not opened where another process has the port', async (t) => {
    t.skip(!HAS_FUNCTIONS, 'needs the foreign function interface')
    const others = (['udp4', 'udp6'] as const).map((type) =>
      createSocket({ type, ipv6Only: type === 'udp6' }),
    )
    t.onTestFinished(() => others.forEach((one) => void one.close()))
    const port = await freePort()
    for (const one of others) {
      one.bind(port)
      await once(one, 'listening')
    }
    assert.equal(CatchAll.open(port, false, overUdp(echo)), undefined)
  })

  test('does not throw for a descriptor that is none', () => {
    allowReuse(-1, true)
  })
})
