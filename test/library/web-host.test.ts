import assert from 'node:assert/strict'
import { describe, test, vi } from 'vitest'
import { createDohApp } from '../../src/gateway/doh/app.ts'
import { createWebHost } from '../../src/library/web-host.ts'
import type { Upstream, UpstreamOptions } from '../../src/resolver/contract/host.ts'
import { HttpServer } from '../../src/server/http/http-server.ts'
import { formatReply, parseQuestion, writeReplyText } from '../message-text.ts'

const REPLY = ['NOERROR rd ra', 'www.example.org. 60 IN A 192.0.2.1']

const PLAIN: UpstreamOptions = {
  tls: {},
  expireMs: 10_000,
  ageMsMax: 0,
  idleMax: 0,
  dohMethod: 'POST',
  resolvers: [],
  onConnection: () => undefined,
}

describe('a Worker asks upstreams', () => {
  test('over HTTPS', async (t) => {
    const answer = (message: Uint8Array): Uint8Array => writeReplyText(REPLY, message)
    const server = new HttpServer(createDohApp({ isPrivate: () => false, answer }))
    const port = await server.listen('127.0.0.1', 0)
    t.onTestFinished(() => server.close())
    const url = `http://127.0.0.1:${port}/dns-query`
    const upstream: Upstream = { transport: 'https', address: '127.0.0.1', port, url }
    const { message } = parseQuestion('www.example.org A')
    for (const dohMethod of ['POST', 'GET'] as const) {
      const client = createWebHost({ runtime: 'workerd' }).openUpstream(upstream, {
        ...PLAIN,
        dohMethod,
      })
      const reply = await client.exchange(message, { protocol: 'udp', timeoutMs: 5000 })
      assert.deepEqual(formatReply(reply), REPLY)
      client.close()
    }
  })

  const url = 'https://dns.example.org/dns-query'
  const https: Upstream = { transport: 'https', address: 'dns.example.org', port: 443, url }
  const refused: { name: string; upstream: Upstream; options?: Partial<UpstreamOptions> }[] = [
    { name: 'plain DNS', upstream: { transport: 'dns', address: '192.0.2.53', port: 53 } },
    { name: 'DNS over TLS', upstream: { transport: 'tls', address: '192.0.2.53', port: 853 } },
    { name: 'another name for certificates', upstream: { ...https, serverName: 'a.example' } },
    { name: 'authorities', upstream: https, options: { tls: { ca: 'PEM' } } },
    { name: 'a certificate', upstream: https, options: { tls: { cert: 'PEM', key: 'PEM' } } },
    { name: 'an address to query from', upstream: https, options: { sourceAddress: '192.0.2.1' } },
    { name: 'resolvers', upstream: https, options: { resolvers: ['192.0.2.53:53'] } },
  ]
  for (const { name, upstream, options } of refused) {
    test(`and not with ${name}`, () => {
      const open = (): unknown =>
        createWebHost({ runtime: 'workerd' }).openUpstream(upstream, { ...PLAIN, ...options })
      assert.throws(open, /^Error: a Worker /)
    })
  }
})

test('tasks run after their time, unless they are called off', async () => {
  const host = createWebHost({ runtime: 'workerd' })
  const ran: string[] = []
  const callOff = host.after(1, () => ran.push('called off'))
  callOff()
  await new Promise<void>((resolve) => {
    host.after(5, () => {
      ran.push('run')
      resolve()
    })
  })
  assert.deepEqual(ran, ['run'])
})

test('numbers are drawn from all of 16 bits', () => {
  const { random16 } = createWebHost({ runtime: 'workerd' })
  const drawn = Array.from({ length: 2000 }, random16)
  assert.ok(drawn.every((number) => Number.isInteger(number) && number >= 0 && number <= 65_535))
  assert.ok(drawn.some((number) => number > 32_767) && drawn.some((number) => number < 32_768))
  assert.ok(new Set(drawn).size > 1000)
})

test('events and lines go to the log of the platform', () => {
  const lines: unknown[] = []
  vi.spyOn(console, 'log').mockImplementation((line: unknown) => lines.push(line))
  vi.spyOn(console, 'error').mockImplementation((line: unknown) => lines.push(line))
  const host = createWebHost({ runtime: 'workerd' })
  host.log({ level: 'error', message: 'no upstream', zone: 'example.org' })
  host.print('a line')
  host.abort('a loop')
  assert.equal(lines.length, 3)
  assert.match(String(lines[0]), /no upstream.*example\.org/)
  assert.deepEqual(lines.slice(1), ['a line', 'a loop'])
  assert.equal(host.readText('/etc/hosts'), undefined)
})
