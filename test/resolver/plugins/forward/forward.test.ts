import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readUint16 } from '../../../../src/dns/bytes/bytes.ts'
import { block, directive, serve } from '../../../ask.ts'
import { settle } from '../../../fake-host.ts'
import { A, ASK, PLAIN, QUERY_CASES, RELAY_CASES } from './relay-cases.ts'
import { serveForward } from './serve-forward.ts'

const TWO = 'forward . 192.0.2.1 192.0.2.2'

describe('relaying', () => {
  for (const { name, ask, upstream, reply } of RELAY_CASES) {
    test(name, async () => {
      assert.deepEqual(await serveForward('forward . 192.0.2.1', { 1: upstream }).ask(ask), reply)
    })
  }
})

describe('queries to upstreams', () => {
  for (const { name, line = PLAIN, ask, question, protocol = 'udp' } of QUERY_CASES) {
    test(name, async () => {
      const server = serveForward(line, { 1: ['NOERROR', A] })
      await server.ask(ask)
      const asked = server.host.asked.map((one) => `${one.protocol} ${one.question}`)
      assert.deepEqual(asked, [`${protocol} ${question}`])
    })
  }

  test('have IDs of their own and none of the options of the client', async () => {
    const server = serveForward(PLAIN, { 1: ['NOERROR', A] })
    const ids = new Set<number>()
    for (let i = 0; i < 50; i++) {
      await server.ask(`${ASK} +id=4660 +cookie +padding`)
      const message = server.host.asked[i]?.message ?? assert.fail('nothing was asked')
      ids.add(readUint16(message, 0))
      assert.equal(message.length, 12 + 21 + 11)
    }
    assert.ok(ids.size > 45)
  })

  test('go over TCP again when UDP was preferred and was not enough', async () => {
    const server = serveForward(directive(PLAIN, 'prefer_udp'), {
      1: ({ protocol }) => (protocol === 'udp' ? ['NOERROR tc'] : ['NOERROR', A]),
    })
    assert.deepEqual(await server.ask(`${ASK} +tcp`), ['NOERROR rd', A])
    assert.deepEqual(
      server.host.asked.map(({ protocol }) => protocol),
      ['udp', 'tcp'],
    )
  })

  test('go to a URL as they are', async () => {
    const url = 'https://dns.example.org/dns-query'
    const server = serveForward(`forward . ${url}`, { [url]: ['NOERROR', A] })
    assert.deepEqual(await server.ask(ASK), ['NOERROR rd', A])
  })
})

describe('queries under way', () => {
  test('are sent once for the same question, and answered to each client', async () => {
    const server = serveForward('forward . 192.0.2.1', { 1: ['NOERROR', A] })
    const replies = await Promise.all([
      server.ask(`${ASK} +id=1`),
      server.ask(`${ASK} +id=2`),
      server.ask('WWW.example.org A +id=3'),
    ])
    assert.equal(server.host.asked.length, 1)
    assert.deepEqual(replies.slice(0, 2), [
      ['NOERROR rd', A],
      ['NOERROR rd', A],
    ])
    assert.equal(replies[2]?.length, 2)
    await server.ask(ASK)
    assert.equal(server.host.asked.length, 2)
  })

  test("are sent by each request where another request's may never end", async () => {
    const upstream = (): readonly string[] => ['NOERROR', A]
    const options = { upstream, isolatesRequests: true }
    const server = serve(block('errors', 'forward . 192.0.2.1'), options)
    await Promise.all([server.ask(ASK), server.ask(ASK)])
    assert.equal(server.host.asked.length, 2)
  })

  const differences = ['+tcp', '+do', '+cd', '+ad', '+nord', '+edns', '+edns=1200']
  for (const words of differences) {
    test(`are sent apart with ${words}`, async () => {
      const server = serveForward('forward . 192.0.2.1', { 1: ['NOERROR', A] })
      await Promise.all([server.ask(ASK), server.ask(`${ASK} ${words}`)])
      assert.equal(server.host.asked.length, 2)
    })
  }

  for (const kind of ['one question', 'questions of two server blocks']) {
    test(`are 4,096 at a time: the oldest makes room, with ${kind}`, async () => {
      const waiting: (() => void)[] = []
      const lines = ['errors', 'forward . 192.0.2.1', 'forward . 192.0.2.2']
      const server = serve(`${block(...lines)}\nexample.net ${block(...lines).slice(2)}`, {
        upstream: () => new Promise((resolve) => waiting.push(() => resolve(['NXDOMAIN']))),
      })
      const name = (i: number): string =>
        kind === 'one question' ? ASK : `n${i}.example.${i % 2 === 0 ? 'org' : 'net'} A`
      const replies: string[] = []
      const asked = Array.from({ length: 4099 }, async (_, i) => {
        const [head = ''] = await server.ask(name(i))
        replies[i] = head
      })
      await settle()
      assert.deepEqual(Object.keys(replies), ['0', '1', '2'])
      for (const finish of waiting) finish()
      await Promise.all(asked)
      assert.ok(replies.slice(0, 3).every((head) => head === 'SERVFAIL rd'))
      assert.ok(replies.slice(3).every((head) => head === 'NXDOMAIN rd'))
      assert.match(
        server.host.metrics.format(),
        /^coredns_forward_max_concurrent_rejects_total 3$/m,
      )
    })
  }

  test('are bounded by max_concurrent, the same question counted once', async () => {
    const line = directive('forward . 192.0.2.1', 'max_concurrent 1')
    const waiting: (() => void)[] = []
    const server = serveForward(line, {
      1: () =>
        new Promise((resolve) => {
          waiting.push(() => {
            resolve(['NOERROR', A])
          })
        }),
    })
    const first = server.ask(ASK)
    const same = server.ask(ASK)
    assert.deepEqual(await server.ask('b.example.org A'), ['REFUSED rd'])
    assert.equal(server.host.events[0]?.message, 'over 1 concurrent queries')
    await settle()
    for (const finish of waiting.splice(0)) finish()
    await Promise.all([first, same])
    assert.match(server.host.metrics.format(), /^coredns_forward_max_concurrent_rejects_total 1$/m)

    const second = server.ask(ASK)
    await settle()
    for (const finish of waiting) finish()
    assert.deepEqual(await second, ['NOERROR rd', A])
  })
})

describe('connections', () => {
  test('are as the options have them, and closed at the end', () => {
    const options = ['expire 3s', 'max_age 1m', 'max_idle_conns 7', 'source_address 192.0.2.9']
    const server = serveForward(directive(TWO, ...options), {})
    const [first] = server.host.upstreams
    const { onConnection: _, ...kept } = first?.options ?? assert.fail('nothing was opened')
    assert.deepEqual(kept, {
      tls: {},
      expireMs: 3000,
      ageMsMax: 60_000,
      idleMax: 7,
      sourceAddress: '192.0.2.9',
      dohMethod: 'POST',
      resolvers: [],
    })
    server.resolver.stop()
    assert.deepEqual(
      server.host.upstreams.map(({ isClosed }) => isClosed),
      [true, true],
    )
  })

  test('are counted by upstream and protocol, apart from reused ones', () => {
    const { host } = serveForward(TWO, {})
    const { onConnection } = host.upstreams[1]?.options ?? assert.fail('nothing was opened')
    onConnection('tcp', false)
    onConnection('tcp', true)
    onConnection('tcp', true)
    onConnection('udp', false)
    const lines = host.metrics.format().split('\n')
    const labels = 'proxy_name="forward",to="192.0.2.2:53"'
    for (const line of [
      `coredns_proxy_conn_cache_hits_total{${labels},proto="tcp"} 2`,
      `coredns_proxy_conn_cache_misses_total{${labels},proto="tcp"} 1`,
      `coredns_proxy_conn_cache_misses_total{${labels},proto="udp"} 1`,
    ]) {
      assert.ok(lines.includes(line), line)
    }
  })
})

describe('metrics of forward', () => {
  test('have the time of each answer, by upstream and code', async () => {
    const server = serveForward('forward . 192.0.2.1', {
      1: async () => {
        await server.host.advance(3)
        return ['NXDOMAIN']
      },
    })
    await server.ask(ASK)
    const labels = 'proxy_name="forward",to="192.0.2.1:53",rcode="NXDOMAIN"'
    const lines = server.host.metrics.format().split('\n')
    const name = 'coredns_proxy_request_duration_seconds'
    assert.ok(lines.includes(`${name}_sum{${labels}} 0.003`))
    assert.ok(lines.includes(`${name}_bucket{${labels},le="0.002"} 0`))
    assert.ok(lines.includes(`${name}_bucket{${labels},le="0.004"} 1`))
    assert.ok(lines.includes(`${name}_count{${labels}} 1`))
  })
})
