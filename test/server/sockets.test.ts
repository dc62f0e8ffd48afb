import assert from 'node:assert/strict'
import { describe, type TestContext, test, vi } from 'vitest'
import type { Listener } from '../../src/chain/listener.ts'
import { localAddresses } from '../../src/node/local-addresses.ts'
import { ListenError, Sockets, type StreamServer, type Streams } from '../../src/server/sockets.ts'
import { TcpServer } from '../../src/server/tcp-server.ts'
import { type Answer, UdpServer } from '../../src/server/udp-server.ts'
import { askUdp, echo, frame, freePort, LOOPBACKS, queryWith, TcpClient } from './clients.ts'
import { pretendInterfaces } from './interfaces.ts'

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

/** Opens at a port of the system's choice, which is free for TCP but need not be for UDP. */
async function openAnywhere(
  t: TestContext,
  parts: Partial<Listener>,
  answer: Answer = echo,
): Promise<Sockets> {
  for (let i = 1; ; i++) {
    const sockets = new Sockets(() => answer, tcp(answer))
    try {
      await sockets.open(listenerAt(parts))
      // Some tests have closed it by then.
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
  test('answers at each address that it is told, by UDP and TCP at one port', async (t) => {
    const sockets = await openAnywhere(t, { addresses: LOOPBACKS })
    for (const address of LOOPBACKS) {
      assert.deepEqual(await askUdp(address, sockets.port, QUERY), {
        message: echo(QUERY),
        address,
      })
      assert.deepEqual(await askTcp(address, sockets.port), [echo(QUERY)])
    }
  })

  test('tells the address that is listened on, which is :: for all over UDP', async (t) => {
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

  test('answers at all addresses of the machine, from the one that was asked', async (t) => {
    const sockets = await openAnywhere(t, {})
    for (const address of localAddresses()) {
      assert.deepEqual(await askUdp(address, sockets.port, QUERY), {
        message: echo(QUERY),
        address,
      })
      assert.deepEqual(await askTcp(address, sockets.port), [echo(QUERY)])
    }
  })

  test('takes an interface for its addresses', async (t) => {
    pretendInterfaces(t, () => ({ eth0: ['127.0.0.1'] }))
    const sockets = await openAnywhere(t, { addresses: ['eth0'] })
    assert.deepEqual(await askTcp('127.0.0.1', sockets.port), [echo(QUERY)])
  })

  test('leaves addresses out', async (t) => {
    pretendInterfaces(t, () => ({ eth0: ['127.0.0.1', '0.0.0.0'] }))
    const listened = listenedAddresses()
    await openAnywhere(t, { addresses: ['eth0'], except: ['0.0.0.0'] })
    assert.deepEqual([...new Set(listened.map(({ address }) => address))], ['127.0.0.1'])
  })

  test('passes over an address that the machine does not have', async (t) => {
    const sockets = await openAnywhere(t, { addresses: ['203.0.113.1', '127.0.0.1'] })
    assert.deepEqual(await askTcp('127.0.0.1', sockets.port), [echo(QUERY)])
  })

  test('is silent when it is closed', async (t) => {
    const sockets = await openAnywhere(t, { addresses: ['127.0.0.1'] })
    const { port } = sockets
    await sockets.close()
    await assert.rejects(TcpClient.open(port), { code: 'ECONNREFUSED' })
    const again = new UdpServer('127.0.0.1', () => echo)
    t.onTestFinished(() => again.close())
    assert.equal(await again.listen('127.0.0.1', port), port)
  })
})

describe('Sockets without UDP', () => {
  test('answer over streams alone, renew all of them, and say what could not be had', async (t) => {
    const at: string[] = []
    const create = (): StreamServer => ({
      listen: (address) => {
        at.push(address)
        return address === '::'
          ? Promise.reject(Object.assign(new Error('listen'), { code: 'EACCES' }))
          : Promise.resolve(853)
      },
      renew: ({ cert }) => at.push(cert),
      close: () => Promise.resolve(),
    })
    const sockets = new Sockets(() => echo, { name: 'TLS', hasUdp: false, create })
    t.onTestFinished(() => sockets.close())
    await sockets.open(listenerAt({ addresses: ['127.0.0.1', '127.0.0.2'] }))
    sockets.renew({ cert: 'new', key: '', clientAuth: 'nocert' })
    assert.deepEqual([sockets.port, at], [853, ['127.0.0.1', '127.0.0.2', 'new', 'new']])
    const all = new Sockets(() => echo, { name: 'TLS', hasUdp: false, create })
    await assert.rejects(all.open(listenerAt({ port: 853 })), {
      message: 'Cannot listen on TLS :::853: ports under 1024 need root or CAP_NET_BIND_SERVICE',
    })
  })
})

describe('Sockets that cannot be had', () => {
  test('are told of: the port is taken by TCP', async (t) => {
    const other = new TcpServer(() => echo)
    t.onTestFinished(() => other.close())
    const port = await other.listen('127.0.0.1', 0)
    const sockets = new Sockets(() => echo, tcp(echo))
    await assert.rejects(sockets.open(listenerAt({ addresses: ['127.0.0.1'], port })), {
      name: 'ListenError',
      message: `Cannot listen on TCP 127.0.0.1:${port}: address in use; stop the other process or choose another port`,
    })
  })

  test('are told of: the port is taken by UDP, and TCP is let go', async (t) => {
    // Few ports are taken by UDP and many by TCP, so this one is as good as always free for both.
    const other = new UdpServer('127.0.0.1', () => echo)
    t.onTestFinished(() => other.close())
    const port = await other.listen('127.0.0.1', await freePort())
    const sockets = new Sockets(() => echo, tcp(echo))
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
    test(`are told of as people understand it: ${code}`, async () => {
      const cause = Object.assign(new Error('listen'), code === undefined ? {} : { code })
      vi.spyOn(TcpServer.prototype, 'listen').mockImplementation(() => Promise.reject(cause))
      const sockets = new Sockets(() => echo, tcp(echo))
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

describe('Sockets and addresses that come later', () => {
  const RESCAN_MS = 1000

  test('answers there too, when it has looked again', async (t) => {
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

  test('is kept from none by another that is taken, and tries that again', async (t) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    let addresses: readonly string[] = []
    pretendInterfaces(t, () => ({ eth0: addresses }))
    const listened = listenedAddresses()
    const sockets = await openAnywhere(t, {})
    const other = new UdpServer('127.0.0.1', () => () => undefined)
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

  test('answers at a bound address by UDP and TCP once an interface has it', async (t) => {
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

  test('answers at the addresses that a bound interface has now, and at no others', async (t) => {
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
    const other = new UdpServer('127.0.0.1', () => echo)
    t.onTestFinished(() => other.close())
    assert.equal(await other.listen('127.0.0.1', port), port)
  })
})

type Listened = { readonly address: string; readonly done: Promise<unknown> }

type Listening = { listen: (address: string, port: number) => Promise<number> }

/** Returns the addresses at which UDP servers, or others, begin to listen while a test runs. */
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
