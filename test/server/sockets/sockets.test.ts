import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { describe, type TestContext, test, vi } from 'vitest'
import type { Listener } from '../../../src/resolver/chain/listener.ts'
import { localAddresses } from '../../../src/server/node/local-addresses.ts'
import type { Answer } from '../../../src/server/sockets/answer.ts'
import {
  ListenError,
  type Neighbours,
  Sockets,
  type StreamServer,
  type Streams,
} from '../../../src/server/sockets/sockets.ts'
import { TcpServer } from '../../../src/server/sockets/tcp-server.ts'
import { UdpServer } from '../../../src/server/sockets/udp-server.ts'
import { freePort } from '../../free-port.ts'
import { askUdp, echo, frame, LOOPBACKS, overUdp, queryWith, TcpClient } from '../clients.ts'
import { pretendInterfaces } from '../interfaces.ts'

const QUERY = queryWith(7)
const ATTEMPTS_MAX = 20

function listenerAt(parts: Partial<Listener>): Listener {
  const all = { transport: 'dns', addresses: [], except: [], port: 0, zones: [] } as const
  return { ...all, bounds: {}, takesAnyClass: false, ...parts }
}

/** TCP beside UDP. */
function tcp(answer: Answer): Streams {
  return { name: 'TCP', hasUdp: true, create: () => new TcpServer(() => answer) }
}

/** Opens on a free port; retries when the port is in use for UDP. */
async function openAnywhere(
  t: TestContext,
  parts: Partial<Listener>,
  answer: Answer = echo,
  neighbours: Neighbours = {},
): Promise<Sockets> {
  for (let i = 1; ; i++) {
    const sockets = new Sockets(overUdp(answer), tcp(answer), neighbours)
    try {
      await sockets.open(listenerAt(parts))
      // Some tests have already closed it.
      t.onTestFinished(() => sockets.close().catch(() => undefined))
      return sockets
    } catch (error) {
      if (i === ATTEMPTS_MAX || !/another process/.test(String(error))) throw error
    }
  }
}

async function askTcp(address: string, port: number): Promise<Uint8Array[]> {
  const client = await TcpClient.open(port, address)
  client.socket.write(frame(QUERY))
  const messages = await client.messages(1)
  client.destroy()
  return messages
}

describe('Sockets', () => {
  test('answers on each given address, over UDP and TCP on one port', async (t) => {
    const sockets = await openAnywhere(t, { addresses: LOOPBACKS })
    for (const address of LOOPBACKS) {
      assert.deepEqual(await askUdp(address, sockets.port, QUERY), {
        message: echo(QUERY),
        address,
      })
      assert.deepEqual(await askTcp(address, sockets.port), [echo(QUERY)])
    }
  })

  test('reports its local address, which is :: for all addresses over UDP', async (t) => {
    const servers: string[] = []
    const answer: Answer = (message, { localAddress, localPort }) => {
      servers.push(`${localAddress} ${localPort}`)
      return echo(message)
    }
    const { port } = await openAnywhere(t, {}, answer)
    await askUdp('127.0.0.1', port, QUERY)
    await askTcp('127.0.0.1', port)
    assert.deepEqual(servers, [`:: ${port}`, `127.0.0.1 ${port}`])
  })

  test('answers on all addresses of the machine, from the queried one', async (t) => {
    const sockets = await openAnywhere(t, {})
    for (const address of localAddresses()) {
      assert.deepEqual(await askUdp(address, sockets.port, QUERY), {
        message: echo(QUERY),
        address,
      })
      assert.deepEqual(await askTcp(address, sockets.port), [echo(QUERY)])
    }
  })

  for (const sharesPort of [false, true]) {
    const how = sharesPort ? ', also where threads share the port' : ''
    test(`answers at each loopback address, which no interface has, from there${how}`, async (t) => {
      t.skip(process.platform !== 'linux', 'only Linux routes 127.0.0.0/8')
      const sockets = await openAnywhere(t, {}, echo, { sharesPort })
      const long: Answer = async (message) => {
        return new Uint8Array([...echo(message), ...new Uint8Array(5000)])
      }
      const others = await openAnywhere(t, {}, long, { sharesPort })
      for (const address of ['127.0.1.1', '127.9.8.7', '127.255.255.254', '127.0.0.1']) {
        const { port } = sockets
        assert.deepEqual(await askUdp(address, port, QUERY), { message: echo(QUERY), address })
        assert.deepEqual(await askTcp(address, port), [echo(QUERY)])
        const answered = await askUdp(address, others.port, QUERY)
        assert.deepEqual(
          [answered.address, answered.message.length],
          [address, QUERY.length + 5000],
        )
      }
    })
  }

  test('is silent at broadcast addresses, and keeps the port to itself', async (t) => {
    const { port } = await openAnywhere(t, {})
    const socket = createSocket('udp4')
    t.onTestFinished(() => void socket.close())
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    socket.setBroadcast(true)
    const replies: string[] = []
    socket.on('message', (_, { address }) => replies.push(address))
    socket.send(QUERY, port, '127.255.255.255')
    socket.send(QUERY, port, '127.0.1.1')
    await vi.waitFor(() => assert.deepEqual(replies, ['127.0.1.1']))
    for (const address of ['127.0.0.1', '0.0.0.0']) {
      const other = createSocket({ type: 'udp4', reuseAddr: true })
      t.onTestFinished(() => void other.close())
      const failed = once(other, 'error')
      other.bind(port, address)
      const [error] = await failed
      assert.equal(error.code, 'EADDRINUSE')
    }
  })

  test('resolves the name of an interface', async (t) => {
    pretendInterfaces(t, () => ({ eth0: ['127.0.0.1'] }))
    const sockets = await openAnywhere(t, { addresses: ['eth0'] })
    assert.deepEqual(await askTcp('127.0.0.1', sockets.port), [echo(QUERY)])
  })

  test('honors except', async (t) => {
    pretendInterfaces(t, () => ({ eth0: ['127.0.0.1', '0.0.0.0'] }))
    const listened = listenedAddresses()
    await openAnywhere(t, { addresses: ['eth0'], except: ['0.0.0.0'] })
    assert.deepEqual([...new Set(listened.map(({ address }) => address))], ['127.0.0.1'])
  })

  test('ignores an address that the machine does not have', async (t) => {
    const sockets = await openAnywhere(t, { addresses: ['203.0.113.1', '127.0.0.1'] })
    assert.deepEqual(await askTcp('127.0.0.1', sockets.port), [echo(QUERY)])
  })

  test('is silent after close', async (t) => {
    const sockets = await openAnywhere(t, { addresses: ['127.0.0.1'] })
    const { port } = sockets
    await sockets.close()
    await assert.rejects(TcpClient.open(port), { code: 'ECONNREFUSED' })
    const again = new UdpServer('127.0.0.1', overUdp(echo))
    t.onTestFinished(() => again.close())
    assert.equal(await again.listen('127.0.0.1', port), port)
  })
})

describe('Sockets without UDP', () => {
  test('answer over streams only, renew all of them, and name the address that is in use', async (t) => {
    const at: string[] = []
    const create = (): StreamServer => ({
      listen: (address) => {
        at.push(address)
        return address === '::'
          ? Promise.reject(Object.assign(new Error('listen'), { code: 'EACCES' }))
          : Promise.resolve(853)
      },
      renew: ({ cert }) => at.push(cert),
      stopListening: () => Promise.resolve(),
      close: () => Promise.resolve(),
    })
    const sockets = new Sockets(overUdp(echo), { name: 'TLS', hasUdp: false, create })
    t.onTestFinished(() => sockets.close())
    await sockets.open(listenerAt({ addresses: ['127.0.0.1', '127.0.0.2'] }))
    sockets.renew({ cert: 'new', key: '', clientAuth: 'nocert' })
    assert.deepEqual([sockets.port, at], [853, ['127.0.0.1', '127.0.0.2', 'new', 'new']])
    const all = new Sockets(overUdp(echo), { name: 'TLS', hasUdp: false, create })
    await assert.rejects(all.open(listenerAt({ port: 853 })), {
      message: 'Cannot listen on TLS :::853: ports under 1024 need root or CAP_NET_BIND_SERVICE',
    })
  })
})

describe('Sockets on a port that is in use', () => {
  test('report that TCP has the port', async (t) => {
    const other = new TcpServer(() => echo)
    t.onTestFinished(() => other.close())
    const port = await other.listen('127.0.0.1', 0)
    const sockets = new Sockets(overUdp(echo), tcp(echo))
    await assert.rejects(sockets.open(listenerAt({ addresses: ['127.0.0.1'], port })), {
      name: 'ListenError',
      message: `Cannot listen on TCP 127.0.0.1:${port}: address in use; stop the other process or choose another port`,
    })
  })

  test('report that UDP has the port, and close TCP', async (t) => {
    // Most ports in use are TCP ports, so this one is practically always free for both.
    const other = new UdpServer('127.0.0.1', overUdp(echo))
    t.onTestFinished(() => other.close())
    const port = await other.listen('127.0.0.1', await freePort())
    const sockets = new Sockets(overUdp(echo), tcp(echo))
    await assert.rejects(sockets.open(listenerAt({ addresses: ['127.0.0.1'], port })), {
      name: 'ListenError',
      message: `Cannot listen on UDP 127.0.0.1:${port}: address in use; stop the other process or choose another port`,
    })
    await assert.rejects(TcpClient.open(port), { code: 'ECONNREFUSED' })
  })

  const codes: { code: string | undefined; says: string | undefined }[] = [
    { code: 'EACCES', says: 'ports under 1024 need root or CAP_NET_BIND_SERVICE' },
    { code: 'EADDRINUSE', says: 'address in use; stop the other process or choose another port' },
    { code: 'EINVAL', says: 'EINVAL' },
    { code: undefined, says: 'unknown error' },
    { code: 'EAFNOSUPPORT', says: undefined },
    { code: 'EADDRNOTAVAIL', says: undefined },
  ]
  for (const { code, says } of codes) {
    test(`explain ${code}`, async () => {
      const cause = Object.assign(new Error('listen'), code === undefined ? {} : { code })
      vi.spyOn(TcpServer.prototype, 'listen').mockImplementation(() => Promise.reject(cause))
      const sockets = new Sockets(overUdp(echo), tcp(echo))
      const opened = sockets.open(listenerAt({ addresses: ['127.0.0.1'], port: 0 }))
      if (says === undefined) {
        await opened
        await sockets.close()
        return
      }
      const error = await opened.catch((reason: unknown) => reason)
      assert.ok(error instanceof ListenError)
      assert.equal(error.message, `Cannot listen on TCP 127.0.0.1:0: ${says}`)
      assert.equal(error.cause, cause)
    })
  }
})

describe('Sockets and addresses that appear later', () => {
  const RESCAN_MS = 1000

  test('answers there after the next rescan', async (t) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    let addresses: readonly string[] = []
    pretendInterfaces(t, () => ({ eth0: addresses }))
    const listened = listenedAddresses()
    const sockets = await openAnywhere(t, {})
    const before = listened.length
    addresses = ['127.0.0.1']
    vi.advanceTimersByTime(RESCAN_MS)
    await Promise.all(listened.map(({ done }) => done))
    assert.equal(listened.length, before + 1)
    const answer = await askUdp('127.0.0.1', sockets.port, QUERY)
    assert.deepEqual(answer, { message: echo(QUERY), address: '127.0.0.1' })
    vi.advanceTimersByTime(RESCAN_MS)
    assert.equal(listened.length, before + 1)
    await sockets.close()
    addresses = ['127.0.0.1', '::1']
    vi.advanceTimersByTime(RESCAN_MS)
    assert.equal(listened.length, before + 1)
  })

  test('keeps its sockets when the machine cannot list its addresses, and follows them later', async (t) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    let addresses: readonly string[] | Error = ['127.0.0.1']
    pretendInterfaces(t, () => {
      // As without a free descriptor.
      if (addresses instanceof Error) throw addresses
      return { eth0: addresses }
    })
    const { port } = await openAnywhere(t, { addresses: ['eth0'] })
    const listened = [listenedAddresses(), listenedAddresses(TcpServer)]
    addresses = Object.assign(new Error('uv_interface_addresses'), { code: 'ERR_SYSTEM_ERROR' })
    vi.advanceTimersByTime(RESCAN_MS)
    assert.equal((await askUdp('127.0.0.1', port, QUERY)).address, '127.0.0.1')
    addresses = ['127.0.0.2']
    vi.advanceTimersByTime(RESCAN_MS)
    await Promise.all(listened.flat().map(({ done }) => done))
    assert.equal((await askUdp('127.0.0.2', port, QUERY)).address, '127.0.0.2')
  })

  test('opens the others when one is in use, and retries that one', async (t) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    let addresses: readonly string[] = []
    pretendInterfaces(t, () => ({ eth0: addresses }))
    const listened = listenedAddresses()
    const sockets = await openAnywhere(t, { addresses: ['eth0'], port: await freePort() })
    const other = new UdpServer(
      '127.0.0.1',
      overUdp(() => undefined),
    )
    t.onTestFinished(() => other.close().catch(() => undefined))
    await other.listen('127.0.0.1', sockets.port)
    listened.length = 0
    addresses = ['127.0.0.1', ...LOOPBACKS.slice(1)]
    vi.advanceTimersByTime(RESCAN_MS)
    await Promise.all(listened.map(({ done }) => done))
    for (const address of LOOPBACKS.slice(1)) {
      assert.equal((await askUdp(address, sockets.port, QUERY)).address, address)
    }
    await other.close()
    vi.advanceTimersByTime(RESCAN_MS)
    await Promise.all(listened.map(({ done }) => done))
    assert.equal((await askUdp('127.0.0.1', sockets.port, QUERY)).address, '127.0.0.1')
  })

  test('answers on a bound address over UDP and TCP once an interface has it', async (t) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const notYet = Object.assign(new Error('bind'), { code: 'EADDRNOTAVAIL' })
    const mocks = [UdpServer, TcpServer].map(({ prototype }) =>
      vi.spyOn(prototype, 'listen').mockImplementation(() => Promise.reject(notYet)),
    )
    const port = await freePort()
    const sockets = await openAnywhere(t, { addresses: ['127.0.0.1'], port })
    for (const mock of mocks) mock.mockRestore()
    const listened = [listenedAddresses(), listenedAddresses(TcpServer)]
    await assert.rejects(TcpClient.open(port), { code: 'ECONNREFUSED' })
    vi.advanceTimersByTime(RESCAN_MS)
    await Promise.all(listened.flat().map(({ done }) => done))
    assert.equal((await askUdp('127.0.0.1', sockets.port, QUERY)).address, '127.0.0.1')
    assert.deepEqual(await askTcp('127.0.0.1', port), [echo(QUERY)])
  })

  test('answers only on the current addresses of a bound interface', async (t) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    let addresses: readonly string[] = ['127.0.0.1']
    pretendInterfaces(t, () => ({ eth0: addresses }))
    const { port } = await openAnywhere(t, { addresses: ['eth0'] })
    const listened = [listenedAddresses(), listenedAddresses(TcpServer)]
    addresses = ['127.0.0.2']
    vi.advanceTimersByTime(RESCAN_MS)
    await Promise.all(listened.flat().map(({ done }) => done))
    assert.equal((await askUdp('127.0.0.2', port, QUERY)).address, '127.0.0.2')
    await assert.rejects(TcpClient.open(port, '127.0.0.1'), { code: 'ECONNREFUSED' })
    const other = new UdpServer('127.0.0.1', overUdp(echo))
    t.onTestFinished(() => other.close())
    assert.equal(await other.listen('127.0.0.1', port), port)
  })
})

type Listened = { readonly address: string; readonly done: Promise<unknown> }

type Listening = { listen: (address: string, port: number) => Promise<number> }

/** Records the addresses on which UDP or other servers start to listen while a test runs. */
function listenedAddresses({
  prototype,
}: {
  readonly prototype: Listening
} = UdpServer): Listened[] {
  const listened: Listened[] = []
  const { listen } = prototype
  vi.spyOn(prototype, 'listen').mockImplementation(function (
    this: Listening,
    address: string,
    port: number,
  ): Promise<number> {
    const promise = listen.call(this, address, port)
    listened.push({ address, done: promise.catch(() => undefined) })
    return promise
  })
  return listened
}
