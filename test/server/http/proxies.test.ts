import assert from 'node:assert/strict'
import { Hono } from 'hono'
import { describe, test } from 'vitest'
import { TrustedProxies } from '../../../src/gateway/doh/trusted-proxies.ts'
import { limitKey } from '../../../src/server/http/http-request.ts'
import { HttpServer } from '../../../src/server/http/http-server.ts'
import { TcpClient, within } from '../clients.ts'

const LOOPBACK = TrustedProxies.parse('127.0.0.1')

/** Opens connections that are answered once; returns those that the server has closed then. */
async function closedOf(proxies: TrustedProxies | undefined, count: number): Promise<number> {
  const app = new Hono().get('/', (c) => c.text('here'))
  const server = new HttpServer(app, { connectionsMax: 4, proxies: () => proxies })
  const port = await server.listen('127.0.0.1', 0)
  const clients: TcpClient[] = []
  for (let i = 0; i < count; i++) {
    const client = await TcpClient.open(port)
    assert.equal(await isAnswered(client), true)
    clients.push(client)
  }
  const answered = await Promise.all(clients.map(isAnswered))
  await server.close()
  await within(Promise.all(clients.map((one) => one.closed)), 'the end')
  return answered.filter((one) => !one).length
}

async function isAnswered({ socket, closed }: TcpClient): Promise<boolean> {
  const answered = new Promise<true>((resolve) => socket.once('data', () => resolve(true)))
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  return within(Promise.race([answered, closed.then(() => false)]), 'a response')
}

describe('the connections of one address are half of all', () => {
  test('unless it is a proxy', async () => {
    assert.equal(await closedOf(LOOPBACK, 4), 0)
    assert.equal(await closedOf(undefined, 4), 2)
  })
  test('and all of those of a proxy', async () => {
    assert.equal(await closedOf(LOOPBACK, 6), 2)
  })
})

test('limits count connections of a proxy one by one, others by network', () => {
  const proxies = TrustedProxies.parse('10.0.0.0/8 2001:db8::/48')
  const key = (remoteAddress: string): string => limitKey({ remoteAddress, remotePort: 7 }, proxies)
  assert.equal(key('10.0.0.1'), '10.0.0.1 7')
  assert.equal(key('2001:db8::1'), '2001:db8::1 7')
  assert.equal(key('192.0.2.1'), '192.0.2.1')
  assert.equal(key('2001:db8:1::1'), '20010db800010000/64')
  assert.equal(limitKey({}, proxies), '')
})
