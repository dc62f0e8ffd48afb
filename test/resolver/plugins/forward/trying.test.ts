import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { block, directive, serve } from '../../../ask.ts'
import type { UpstreamScript } from '../../../fake-host.ts'
import { formatReply, writeReplyText } from '../../../message-text.ts'
import { A, ASK } from './relay-cases.ts'
import { askedFor, DEAD, serveForward } from './serve-forward.ts'
import { spoiled, WRONG_ANSWERS } from './wrong-answers.ts'

const TWO = 'forward . 192.0.2.1 192.0.2.2'

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

  test('repeats a query on no connection that is older than the query', async () => {
    const lines = ['policy sequential', 'force_tcp', 'max_fails 0', 'read_timeout 1s']
    const server = serveForward(directive(TWO, ...lines), { 1: 'silence', 2: 'silence' })
    const reply = server.ask(ASK)
    await server.host.advance(4000)
    assert.deepEqual(await reply, ['SERVFAIL rd'])
    const ages = server.host.asked.map(({ connectionAgeMsMax }) => connectionAgeMsMax)
    assert.deepEqual(ages, [undefined, 1000, 2000, 3000])
  })

  test('gives up after four seconds and says why', async () => {
    const server = serveForward(`${TWO} 192.0.2.3`, { 1: 'silence', 2: 'silence', 3: 'silence' })
    const reply = server.ask(`${ASK} +edns`)
    await server.host.advance(3999)
    assert.equal(server.host.events.length, 0)
    await server.host.advance(1)
    assert.deepEqual(await reply, ['SERVFAIL rd', 'edns: 1232', 'ede: 22 no upstream answered'])
    assert.equal(askedFor(server).split(' ').length, 2)
    assert.match(
      server.host.events[0]?.message ?? '',
      /^192\.0\.2\.\d:53: no answer in time: i\/o timeout$/,
    )
  })

  test('does not give clients the reason unless the block logs errors', async () => {
    const server = serve(block('forward . 192.0.2.1'), { upstream: () => DEAD })
    assert.deepEqual(await server.ask(`${ASK} +edns`), ['SERVFAIL rd', 'edns: 1232'])
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

  for (const { attempts, asked } of [
    { attempts: 1, asked: '1' },
    { attempts: 3, asked: '1 2 1' },
    { attempts: 5, asked: '1 2 1 2 1' },
  ]) {
    test(`ends after ${attempts} failed attempts if configured so`, async () => {
      const options = ['policy sequential', 'max_fails 0', `max_connect_attempts ${attempts}`]
      const server = serveForward(directive(TWO, ...options), {})
      assert.deepEqual(await server.ask(ASK), ['SERVFAIL rd'])
      assert.equal(askedFor(server), asked)
    })
  }

  test('ends after a hundred attempts without a configured bound', async () => {
    const server = serveForward(directive(TWO, 'max_fails 0', 'max_connect_attempts 0'), {})
    assert.deepEqual(await server.ask(ASK), ['SERVFAIL rd'])
    assert.equal(server.host.asked.length, 100)
  })

  test('leaves a silent upstream after the timeout, and waits longer if configured so', async () => {
    for (const ms of [300, 7000]) {
      const options = ['policy sequential', `read_timeout ${ms}ms`]
      const server = serveForward(directive(TWO, ...options), { 1: 'silence', 2: ['NOERROR', A] })
      const reply = server.ask(ASK)
      await server.host.advance(ms - 1)
      assert.equal(askedFor(server), '1')
      await server.host.advance(1)
      assert.deepEqual(await reply, ms > 4000 ? ['SERVFAIL rd'] : ['NOERROR rd', A])
    }
  })

  test('passes on an error that is a header alone, from an upstream that knows no OPT', async () => {
    const server = serveForward(directive(TWO, 'policy sequential'), {
      1: ({ message }) => Uint8Array.of(...message.subarray(0, 2), 0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0),
      2: ['NOERROR', A],
    })
    assert.deepEqual(await server.ask(ASK), ['FORMERR rd'])
    assert.equal(askedFor(server), '1')
  })

  test('says so when an upstream sends what is no answer', async () => {
    const server = serveForward('forward . 192.0.2.1', { 1: new Uint8Array(0) })
    await server.ask(ASK)
    const [event] = server.host.events
    assert.equal(event?.message, '192.0.2.1:53 sent a response that does not match the query')
  })

  test('never throws, whatever bytes an upstream sends', async () => {
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

describe('failover', () => {
  const line = (words: string): string =>
    directive(`${TWO} 192.0.2.3`, 'policy sequential', `failover ${words}`)
  const cases: {
    name: string
    acts: Parameters<typeof serveForward>[1]
    reply: string[]
    asked: string
  }[] = [
    {
      name: 'queries the next upstream for a better answer',
      acts: { 1: ['SERVFAIL'], 2: ['NOERROR', A] },
      reply: ['NOERROR rd', A],
      asked: '1 2',
    },
    {
      name: 'takes other codes for an answer',
      acts: { 1: ['NXDOMAIN'] },
      reply: ['NXDOMAIN rd'],
      asked: '1',
    },
    {
      name: 'takes the last answer when all are alike',
      acts: { 1: ['SERVFAIL'], 2: ['REFUSED'], 3: ['SERVFAIL ra'] },
      reply: ['SERVFAIL rd ra'],
      asked: '1 2 3',
    },
    {
      name: 'goes round again past an upstream that fails',
      acts: { 1: ['SERVFAIL'], 2: ['REFUSED ra'] },
      reply: ['SERVFAIL rd'],
      asked: '1 2 3 1',
    },
  ]
  for (const { name, acts, reply, asked } of cases) {
    test(name, async () => {
      const server = serveForward(line('servfail REFUSED'), acts)
      assert.deepEqual(await server.ask(ASK), reply)
      assert.equal(askedFor(server), asked)
    })
  }

  test('makes do with a poor answer when all else fails', async () => {
    let isFirst = true
    const server = serveForward(directive(TWO, 'policy sequential', 'failover SERVFAIL'), {
      1: () => {
        if (!isFirst) return DEAD
        isFirst = false
        return ['SERVFAIL ra']
      },
    })
    assert.deepEqual(await server.ask(ASK), ['SERVFAIL rd ra'])
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
    await server.host.advance(625)
    await server.ask(ASK)
    assert.equal(askedFor(server), '1 2 2')
    isDead = false
    await server.host.advance(625)
    await server.ask(ASK)
    assert.equal(askedFor(server), '1 2 2 1')
  })

  test('are tried all the same when all are down, once each', async () => {
    const server = serveForward(sequential, {})
    await server.ask(ASK)
    await server.host.advance(625)
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
    await server.host.advance(625)
    isDead = false
    await server.ask(ASK)
    await server.ask(ASK)
    assert.equal(askedFor(server), '1 2 1 2 1 2 2')
  })

  test('are not tried when all are down and failfast is set', async () => {
    const options = ['policy sequential', 'failfast_all_unhealthy_upstreams']
    const server = serveForward(directive(TWO, ...options), {})
    await server.ask(ASK)
    await server.host.advance(625)
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
    test(`${policy} queries ${asked}`, async () => {
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
