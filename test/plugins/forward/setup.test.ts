import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { readUint16 } from '../../../src/dns/bytes.ts'
import { block, directive, type Server, serve } from '../../ask.ts'
import { settle, type UpstreamAct, type UpstreamScript } from '../../fake-host.ts'
import { formatReply, writeReplyText } from '../../message-text.ts'
import { A, ASK, PLAIN, QUERY_CASES, RELAY_CASES } from './relay-cases.ts'
import { spoiled, WRONG_ANSWERS } from './wrong-answers.ts'

const DEAD = new Error('connection refused')
const TWO = 'forward . 192.0.2.1 192.0.2.2'

/** A server with one `forward` and what each of its upstreams does, by the address's end. */
function serveForward(
  line: string,
  acts: Readonly<Record<string, UpstreamAct | UpstreamScript>>,
): Server {
  return serve(block('errors', line), {
    upstream: (asked) => {
      const act = acts[asked.upstream.replace(/^192\.0\.2\.(\d+):53$/, '$1')] ?? DEAD
      return typeof act === 'function' ? act(asked) : act
    },
  })
}

/** The ends of the addresses that were asked for a name, in order. */
function askedFor(server: Server, name = 'www.example.org.'): string {
  return server.host.asked
    .filter(({ question }) => question.startsWith(`${name} `))
    .map(({ upstream }) => upstream.replace(/^192\.0\.2\.(\d+):53$/, '$1'))
    .join(' ')
}

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

describe('which queries are relayed', () => {
  const some = directive('forward example.org 192.0.2.1', 'except sub.example.org')
  const none = directive('forward example.org 192.0.2.1', 'except example.org')
  const cases: { name: string; line: string; ask: string; to: string }[] = [
    { name: 'are those below the zone', line: some, ask: 'www.example.org A', to: '1' },
    { name: 'are those in other letter case', line: some, ask: 'WWW.EXAMPLE.ORG A', to: '1' },
    { name: 'are those for the zone itself', line: some, ask: 'example.org A', to: '1' },
    { name: 'are not those elsewhere', line: some, ask: 'www.example.net A', to: '2' },
    { name: 'are not those below an exception', line: some, ask: 'a.sub.example.org A', to: '2' },
    { name: 'are not those for an exception', line: some, ask: 'sub.example.org A', to: '2' },
    { name: 'are none where all is excepted', line: none, ask: 'www.example.org A', to: '2' },
    { name: 'are those for the zone even so', line: none, ask: 'example.org A', to: '1' },
  ]
  for (const { name, line, ask, to } of cases) {
    test(name, async () => {
      const server = serveForward(`${line}\n  forward . 192.0.2.2`, {
        1: ['NOERROR'],
        2: ['NOERROR'],
      })
      await server.ask(ask)
      assert.equal(askedFor(server, `${ask.split(' ')[0]}.`), to)
    })
  }
})

describe('failing over', () => {
  const sequential = directive(TWO, 'policy sequential')
  for (const { name, first } of WRONG_ANSWERS) {
    test(name, async () => {
      const server = serveForward(sequential, { 1: first, 2: ['NOERROR', A] })
      assert.deepEqual(await server.ask(ASK), ['NOERROR rd', A])
      assert.equal(askedFor(server), '1 2')
    })
  }

  for (const rcode of ['SERVFAIL', 'REFUSED', 'NXDOMAIN', 'NOTIMP']) {
    test(`takes ${rcode} for an answer`, async () => {
      const server = serveForward(sequential, { 1: [rcode], 2: ['NOERROR', A] })
      assert.deepEqual(await server.ask(ASK), [`${rcode} rd`])
      assert.equal(askedFor(server), '1')
    })
  }

  test('takes an answer in other letter case', async () => {
    const server = serveForward(sequential, {
      1: spoiled(['NOERROR'], (reply) => reply.fill(0x57, 13, 16)),
    })
    assert.deepEqual(await server.ask(ASK), ['NOERROR rd'])
  })

  test('leaves a silent upstream after two seconds', async () => {
    const server = serveForward(sequential, { 1: 'silence', 2: ['NOERROR', A] })
    const reply = server.ask(ASK)
    await server.host.advance(1999)
    assert.equal(askedFor(server), '1')
    await server.host.advance(1)
    assert.deepEqual(await reply, ['NOERROR rd', A])
  })

  test('gives up after four seconds and says why', async () => {
    const server = serveForward(`${TWO} 192.0.2.3`, { 1: 'silence', 2: 'silence', 3: 'silence' })
    const reply = server.ask(`${ASK} +edns`)
    await server.host.advance(3999)
    assert.equal(server.host.events.length, 0)
    await server.host.advance(1)
    assert.deepEqual(await reply, ['SERVFAIL rd', 'edns: 1232', 'ede: 22 no upstream answered'])
    assert.equal(askedFor(server).split(' ').length, 2)
    assert.match(server.host.events[0]?.message ?? '', /^192\.0\.2\.\d:53: no answer in time$/)
  })

  test('gives the last upstream no more than the time that is left', async () => {
    const slow: UpstreamScript = async ({ question }) => {
      if (question.startsWith('. ')) return ['NOERROR']
      await server.host.advance(1500)
      return DEAD
    }
    const server = serveForward(sequential, { 1: slow, 2: slow })
    await server.ask(ASK)
    const queries = server.host.asked.filter(({ question }) => question.includes('www'))
    assert.deepEqual(
      queries.map(({ timeoutMs }) => timeoutMs),
      [2000, 2000, 1000],
    )
  })

  test('tries each upstream twice when all fail at once', async () => {
    const server = serveForward(sequential, {})
    assert.deepEqual(await server.ask(ASK), ['SERVFAIL rd'])
    assert.equal(askedFor(server), '1 2 1 2')
    assert.equal(server.host.events[0]?.message, '192.0.2.2:53: connection refused')
  })

  test('says so when an upstream sends what is no answer', async () => {
    const server = serveForward('forward . 192.0.2.1', { 1: new Uint8Array(0) })
    await server.ask(ASK)
    const [event] = server.host.events
    assert.equal(event?.message, '192.0.2.1:53 sent what is no answer to the question')
  })

  test('never throws, whatever octets an upstream sends', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 100 }),
        fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { maxLength: 3 }),
        async (tail, changes) => {
          const server = serveForward('forward . 192.0.2.1', {
            1: ({ message, question }) => {
              if (question.startsWith('. ')) return ['NOERROR']
              const reply = Uint8Array.of(...writeReplyText(['NOERROR', A], message), ...tail)
              for (const [at, value] of changes) if (at < reply.length) reply[at] = value
              return reply
            },
          })
          const bytes = await server.askBytes(ASK)
          assert.ok(bytes && formatReply(bytes).length > 0)
          assert.deepEqual(
            server.host.events.filter(({ message }) => message === 'a plugin failed'),
            [],
          )
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('upstreams that are down', () => {
  const sequential = directive(TWO, 'policy sequential')

  test('go last, and first again when they are up', async () => {
    let isDead = true
    const server = serveForward(sequential, {
      1: () => (isDead ? DEAD : ['NOERROR', A]),
      2: ['NOERROR', A],
    })
    await server.ask(ASK)
    await server.host.advance(500)
    await server.ask(ASK)
    assert.equal(askedFor(server), '1 2 2')
    isDead = false
    await server.host.advance(500)
    await server.ask(ASK)
    assert.equal(askedFor(server), '1 2 2 1')
  })

  test('are tried all the same when all are down, once each', async () => {
    const server = serveForward(sequential, {})
    await server.ask(ASK)
    await server.host.advance(500)
    await server.ask(ASK)
    assert.equal(askedFor(server), '1 2 1 2 1 2')
    assert.match(server.host.metrics.format(), /^coredns_forward_healthcheck_broken_total 1$/m)
  })

  test('are up again when they answer a query', async () => {
    let isDead = true
    const server = serveForward(sequential, {
      2: ({ question }) => (isDead || question.startsWith('. ') ? DEAD : ['NOERROR', A]),
    })
    await server.ask(ASK)
    await server.host.advance(500)
    isDead = false
    await server.ask(ASK)
    await server.ask(ASK)
    assert.equal(askedFor(server), '1 2 1 2 1 2 2')
  })

  test('are not tried when all are down and it is told to fail fast', async () => {
    const options = ['policy sequential', 'failfast_all_unhealthy_upstreams']
    const server = serveForward(directive(TWO, ...options), {})
    await server.ask(ASK)
    await server.host.advance(500)
    assert.deepEqual(await server.ask(`${ASK} +edns`), [
      'SERVFAIL rd',
      'edns: 1232',
      'ede: 22 no upstream answered',
    ])
    assert.equal(askedFor(server), '1 2 1 2')
    assert.equal(server.host.events.at(-1)?.message, 'no healthy upstream')
  })

  test('are not checked any more when the plugin stops', async () => {
    const server = serveForward(sequential, {})
    await server.ask(ASK)
    server.resolver.stop()
    await server.host.advance(0)
    const { length } = server.host.asked
    await server.host.advance(60_000)
    assert.equal(server.host.asked.length, length)
  })
})

describe('policies', () => {
  const upstreams = 'forward . 192.0.2.1 192.0.2.2 192.0.2.3'
  const all = { 1: ['NOERROR', A], 2: ['NOERROR', A], 3: ['NOERROR', A] }
  const cases: { policy: string; asked: string }[] = [
    { policy: 'sequential', asked: '1 1 1 1 1' },
    { policy: 'round_robin', asked: '1 2 3 1 2' },
  ]
  for (const { policy, asked } of cases) {
    test(`${policy} asks ${asked}`, async () => {
      const server = serveForward(directive(upstreams, `policy ${policy}`), all)
      for (let i = 0; i < 5; i++) await server.ask(ASK)
      assert.equal(askedFor(server), asked)
    })
  }

  test('random asks each about as often', async () => {
    const server = serveForward(upstreams, all)
    for (let i = 0; i < 300; i++) await server.ask(ASK)
    for (const end of ['1', '2', '3']) {
      const count = askedFor(server).split(end).length - 1
      assert.ok(60 < count && count < 140, `${end}: ${count} of 300`)
    }
  })

  test('round robin goes on from the upstream whose turn it is when that fails', async () => {
    const acts = { ...all, 2: DEAD, 3: DEAD }
    const server = serveForward(directive(upstreams, 'policy round_robin'), acts)
    await server.ask(ASK)
    await server.ask(ASK)
    assert.equal(askedFor(server), '1 2 3 1')
  })
})

describe('queries under way', () => {
  test('are asked once for the same question, and answered to each', async () => {
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

  test('are asked each by itself where what one request began may never end', async () => {
    const upstream = (): readonly string[] => ['NOERROR', A]
    const options = { upstream, isolatesRequests: true }
    const server = serve(block('errors', 'forward . 192.0.2.1'), options)
    await Promise.all([server.ask(ASK), server.ask(ASK)])
    assert.equal(server.host.asked.length, 2)
  })

  const differences = ['+tcp', '+do', '+cd', '+ad', '+nord', '+edns', '+edns=1400']
  for (const words of differences) {
    test(`are asked apart with ${words}`, async () => {
      const server = serveForward('forward . 192.0.2.1', { 1: ['NOERROR', A] })
      await Promise.all([server.ask(ASK), server.ask(`${ASK} ${words}`)])
      assert.equal(server.host.asked.length, 2)
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
    assert.equal(server.host.events[0]?.message, 'over 1 queries at a time')
    await settle()
    for (const finish of waiting.splice(0)) finish()
    await Promise.all([first, same])
    assert.match(server.host.metrics.format(), /^coredns_forward_max_concurrent_rejects_total 1$/m)

    const second = server.ask('c.example.org A')
    await settle()
    for (const finish of waiting) finish()
    assert.deepEqual(await second, ['NOERROR rd', A])
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
