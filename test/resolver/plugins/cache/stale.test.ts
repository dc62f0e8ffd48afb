import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, serve } from '../../../ask.ts'
import { settle, type UpstreamAct } from '../../../fake-host.ts'
import {
  ASK,
  answer,
  askedCount,
  brief,
  DEAD,
  DENIAL,
  follow,
  type Step,
  serveActs,
} from './follow.ts'
import { LABELS } from './serve-cache.ts'

describe('stale answers at once', () => {
  const cases: { name: string; options: string[]; acts: UpstreamAct[]; steps: Step[] }[] = [
    {
      name: 'have TTL 0, and the next answer is new',
      options: ['serve_stale'],
      acts: [answer(1), answer(2)],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 10, reply: 'NOERROR 1 0', asked: 2 },
        { at: 11, reply: 'NOERROR 2 9', asked: 2 },
      ],
    },
    {
      name: 'have the TTL that is configured',
      options: ['serve_stale 1h immediate 30s'],
      acts: [answer(1), DEAD],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 10, reply: 'NOERROR 1 30', asked: 3 },
      ],
    },
    {
      name: 'have the TTL that keepttl keeps',
      options: ['serve_stale', 'keepttl'],
      acts: [answer(1), answer(2)],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 20, reply: 'NOERROR 1 10', asked: 2 },
      ],
    },
    {
      name: 'are served no longer than configured',
      options: ['serve_stale 1m'],
      acts: [answer(1), DEAD],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 69, reply: 'NOERROR 1 0', asked: 3 },
        { at: 70, reply: 'SERVFAIL', asked: 4 },
      ],
    },
    {
      name: 'are negative responses as well',
      options: ['serve_stale'],
      acts: [DENIAL, answer(1)],
      steps: [
        { at: 0, reply: 'NXDOMAIN 10', asked: 1 },
        { at: 10, reply: 'NXDOMAIN 0', asked: 2 },
        { at: 11, reply: 'NOERROR 1 9', asked: 2 },
      ],
    },
    {
      name: 'stay when a failure comes in their place',
      options: ['serve_stale'],
      acts: [answer(1), ['SERVFAIL'], answer(2)],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 10, reply: 'NOERROR 1 0', asked: 2 },
        { at: 11, reply: 'NOERROR 1 0', asked: 3 },
        { at: 12, reply: 'NOERROR 2 9', asked: 3 },
      ],
    },
    {
      name: 'are not requested again so soon after that failed',
      options: ['serve_stale 1h immediate 0s 30s'],
      acts: [answer(1), ['SERVFAIL'], answer(2)],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 10, reply: 'NOERROR 1 0', asked: 2 },
        { at: 39, reply: 'NOERROR 1 0', asked: 2 },
        { at: 40, reply: 'NOERROR 1 0', asked: 3 },
        { at: 41, reply: 'NOERROR 2 9', asked: 3 },
      ],
    },
    {
      name: 'go before a failure that was kept',
      options: ['serve_stale 1h verify', 'servfail 1m'],
      acts: [answer(1), ['SERVFAIL']],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 10, reply: 'NOERROR 1 0', asked: 2 },
        { at: 11, reply: 'NOERROR 1 0', asked: 3 },
      ],
    },
  ]
  for (const { name, options, acts, steps } of cases) {
    test(name, async () => {
      await follow(serveActs(options, acts), steps)
    })
  }

  test('are fetched once for any number of clients, and over TCP', async () => {
    const server = serveActs(['serve_stale'], [answer(1), answer(2)])
    await server.ask(ASK)
    await server.host.advance(10_000)
    const replies = await Promise.all([1, 2, 3, 4].map(() => server.ask(ASK)))
    assert.deepEqual(
      replies.map(brief),
      Array.from({ length: 4 }, () => 'NOERROR 1 0'),
    )
    assert.equal(askedCount(server), 2)
    assert.deepEqual(
      server.host.asked.map(({ protocol }) => protocol),
      ['udp', 'tcp'],
    )
  })

  test('are counted', async () => {
    const server = serveActs(['serve_stale'], [answer(1), answer(2)])
    await server.ask(ASK)
    await server.host.advance(10_000)
    await server.ask(ASK)
    const lines = server.host.metrics.format().split('\n')
    assert.ok(lines.includes(`coredns_cache_served_stale_total{${LABELS}} 1`))
    assert.ok(lines.includes(`coredns_cache_prefetch_total{${LABELS}} 1`))
  })

  test('are fetched first where nothing runs after a response', async () => {
    const server = serveActs(['serve_stale'], [answer(1), answer(2)], { isolatesRequests: true })
    await follow(server, [
      { at: 0, reply: 'NOERROR 1 10', asked: 1 },
      { at: 10, reply: 'NOERROR 2 10', asked: 2 },
    ])
  })

  for (const { name, acts, ede } of [
    { name: 'an answer', acts: [answer(1), DEAD], ede: 'ede: 3' },
    { name: 'a negative response', acts: [DENIAL, DEAD], ede: 'ede: 19' },
  ]) {
    test(`are marked as stale if the block logs errors: ${name}`, async () => {
      for (const before of [['errors'], []]) {
        const server = serveActs(['serve_stale'], acts, { before })
        await server.ask(`${ASK} +edns`)
        await server.host.advance(10_000)
        const reply = await server.ask(`${ASK} +edns`)
        assert.deepEqual(reply.slice(2), ['edns: 1232', ...(before.length === 0 ? [] : [ede])])
      }
    })
  }
})

describe('stale answers when there is nothing better', () => {
  const cases: { name: string; options: string[]; acts: UpstreamAct[]; steps: Step[] }[] = [
    {
      name: 'yield to a new answer',
      options: ['serve_stale 1h verify'],
      acts: [answer(1), answer(2)],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 10, reply: 'NOERROR 2 10', asked: 2 },
        { at: 11, reply: 'NOERROR 2 9', asked: 2 },
      ],
    },
    {
      name: 'yield to a negative response',
      options: ['serve_stale 1h verify'],
      acts: [answer(1), DENIAL],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 10, reply: 'NXDOMAIN 10', asked: 2 },
        { at: 11, reply: 'NXDOMAIN 9', asked: 2 },
      ],
    },
    {
      name: 'replace a negative response that is over',
      options: ['serve_stale 1h verify'],
      acts: [DENIAL, answer(1), DEAD],
      steps: [
        { at: 0, reply: 'NXDOMAIN 10', asked: 1 },
        { at: 10, reply: 'NOERROR 1 10', asked: 2 },
        { at: 20, reply: 'NOERROR 1 0', asked: 4 },
      ],
    },
    {
      name: 'are served when all upstreams fail, or one does',
      options: ['serve_stale 1h verify'],
      acts: [answer(1), ['SERVFAIL'], ['REFUSED'], ['NOERROR tc'], DEAD],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 10, reply: 'NOERROR 1 0', asked: 2 },
        { at: 11, reply: 'NOERROR 1 0', asked: 3 },
        { at: 12, reply: 'NOERROR 1 0', asked: 4 },
        { at: 13, reply: 'NOERROR 1 0', asked: 6 },
      ],
    },
    {
      name: 'are served at once so soon after a failure',
      options: ['serve_stale 1h verify 0 5s 30s'],
      acts: [answer(1), ['SERVFAIL'], answer(2)],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 10, reply: 'NOERROR 1 5', asked: 2 },
        { at: 39, reply: 'NOERROR 1 5', asked: 2 },
        { at: 40, reply: 'NOERROR 2 10', asked: 3 },
      ],
    },
  ]
  for (const { name, options, acts, steps } of cases) {
    test(name, async () => {
      await follow(serveActs(options, acts), steps)
    })
  }

  test('are served when it takes too long, and the new one is kept when it comes', async () => {
    const slow = Promise.withResolvers<UpstreamAct>()
    let count = 0
    const server = serve(
      block(directive('cache', 'serve_stale 1h verify 100ms'), 'forward . 192.0.2.53'),
      { upstream: () => (++count === 1 ? answer(1) : slow.promise) },
    )
    await server.ask(ASK)
    await server.host.advance(10_000)
    const reply = server.ask(ASK)
    await server.host.advance(99)
    let isThere = false
    void reply.then(() => {
      isThere = true
    })
    await settle()
    assert.equal(isThere, false)
    await server.host.advance(1)
    assert.equal(brief(await reply), 'NOERROR 1 0')
    slow.resolve(answer(2))
    await settle()
    assert.equal(brief(await server.ask(ASK)), 'NOERROR 2 10')
    assert.equal(count, 2)
    const lines = server.host.metrics.format().split('\n')
    assert.ok(lines.includes(`coredns_cache_served_stale_total{${LABELS}} 1`))
  })

  test('yield to an answer that comes in time', async () => {
    const server = serveActs(['serve_stale 1h verify 100ms'], [answer(1), answer(2)])
    await follow(server, [
      { at: 0, reply: 'NOERROR 1 10', asked: 1 },
      { at: 10, reply: 'NOERROR 2 10', asked: 2 },
    ])
    assert.equal(server.host.timerCount, 0)
  })
})

describe('answers that are preferred to newer negative responses', () => {
  const policy = 'serve_stale_policy prefer_positive'
  const cases: { name: string; options: string[]; acts: UpstreamAct[]; steps: Step[] }[] = [
    {
      name: 'are served while they are stale',
      options: ['serve_stale 1m', policy],
      acts: [answer(1), DENIAL],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 10, reply: 'NOERROR 1 0', asked: 2 },
        { at: 11, reply: 'NOERROR 1 0', asked: 3 },
        { at: 70, reply: 'NXDOMAIN 0', asked: 4 },
      ],
    },
    {
      name: 'are served after they were verified in vain',
      options: ['serve_stale 1m verify', policy],
      acts: [answer(1), DENIAL, answer(2)],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 10, reply: 'NOERROR 1 0', asked: 2 },
        { at: 11, reply: 'NOERROR 2 10', asked: 3 },
      ],
    },
    {
      name: 'are kept beside what answers nothing',
      options: ['serve_stale 1m', policy],
      acts: [answer(1), ['NOERROR'], answer(2)],
      steps: [
        { at: 0, reply: 'NOERROR 1 10', asked: 1 },
        { at: 10, reply: 'NOERROR 1 0', asked: 2 },
        { at: 12, reply: 'NOERROR 1 0', asked: 3 },
        { at: 13, reply: 'NOERROR 2 9', asked: 3 },
      ],
    },
    {
      name: 'are none where nothing answered before',
      options: ['serve_stale 1m', policy],
      acts: [DENIAL, answer(1)],
      steps: [
        { at: 0, reply: 'NXDOMAIN 10', asked: 1 },
        { at: 9, reply: 'NXDOMAIN 1', asked: 1 },
        { at: 10, reply: 'NXDOMAIN 0', asked: 2 },
        { at: 11, reply: 'NOERROR 1 9', asked: 2 },
      ],
    },
  ]
  for (const { name, options, acts, steps } of cases) {
    test(name, async () => {
      await follow(serveActs(options, acts), steps)
    })
  }
})
