import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { directive, type Server } from '../../../ask.ts'
import type { UpstreamAct, UpstreamScript } from '../../../fake-host.ts'
import { A, ASK } from './relay-cases.ts'
import { askedFor, DEAD, serveForward } from './serve-forward.ts'

const B = 'www.example.org. 60 IN A 192.0.2.81'
const LINE = directive('forward . 192.0.2.1 192.0.2.2', 'policy sequential', 'hedge 50ms')

/** A server whose upstreams act after a delay; upstreams answer health checks at once. */
function serveSlow(
  acts: Readonly<Record<string, readonly [delayMs: number, act: UpstreamAct]>>,
  line = LINE,
): Server {
  const scripts = Object.entries(acts).map(([end, [delayMs, act]]) => {
    const script: UpstreamScript = ({ question }) => {
      if (question.startsWith('. ')) return ['NOERROR']
      return new Promise((resolve) => {
        server.host.after(delayMs, () => resolve(act))
      })
    }
    return [end, script]
  })
  const server: Server = serveForward(line, Object.fromEntries(scripts))
  return server
}

function hedges(server: Server): string {
  const lines = server.host.metrics
    .format()
    .matchAll(/^kubedoh_forward_hedges_total\{result="(\w+)"\} (\d+)$/gm)
  return [...lines].map(([, result, count]) => `${result} ${count}`).join(', ')
}

/** Which of the queries for the name were ended early. */
function aborted(server: Server): boolean[] {
  return server.host.asked
    .filter(({ question }) => question.startsWith('www'))
    .map(({ signal }) => signal?.aborted === true)
}

describe('hedge', () => {
  const cases: {
    name: string
    acts: Parameters<typeof serveSlow>[0]
    reply: string[]
    ms: number
    asked: string
    counted: string
  }[] = [
    {
      name: 'queries one upstream if it responds in time',
      acts: { 1: [49, ['NOERROR', A]], 2: [0, ['NOERROR', B]] },
      reply: ['NOERROR rd', A],
      ms: 49,
      asked: '1',
      counted: '',
    },
    {
      name: 'takes the response of the second upstream when the first is slow',
      acts: { 1: [500, ['NOERROR', A]], 2: [10, ['NOERROR', B]] },
      reply: ['NOERROR rd', B],
      ms: 60,
      asked: '1 2',
      counted: 'won 1',
    },
    {
      name: 'takes the response of the first upstream when the second is slower',
      acts: { 1: [70, ['NOERROR', A]], 2: [500, ['NOERROR', B]] },
      reply: ['NOERROR rd', A],
      ms: 70,
      asked: '1 2',
      counted: 'lost 1',
    },
    {
      name: 'waits for the first upstream when the second fails',
      acts: { 1: [200, ['NOERROR', A]], 2: [10, DEAD] },
      reply: ['NOERROR rd', A],
      ms: 200,
      asked: '1 2',
      counted: 'lost 1',
    },
    {
      name: 'waits for the second upstream when the first fails meanwhile',
      acts: { 1: [60, DEAD], 2: [100, ['NOERROR', B]] },
      reply: ['NOERROR rd', B],
      ms: 150,
      asked: '1 2',
      counted: 'won 1',
    },
    {
      name: 'queries the second upstream at once when the first fails before',
      acts: { 1: [10, DEAD], 2: [10, ['NOERROR', B]] },
      reply: ['NOERROR rd', B],
      ms: 20,
      asked: '1 2',
      counted: '',
    },
    {
      name: 'tries each upstream twice when all fail',
      acts: { 1: [60, DEAD], 2: [60, DEAD] },
      reply: ['SERVFAIL rd'],
      ms: 220,
      asked: '1 2 1 2',
      counted: 'failed 2',
    },
  ]
  for (const { name, acts, reply, ms, asked, counted } of cases) {
    test(name, async () => {
      const server = serveSlow(acts)
      let isDone = false
      const asking = server.ask(ASK).finally(() => {
        isDone = true
      })
      await server.host.advance(ms - 1)
      assert.equal(isDone, false)
      await server.host.advance(1)
      assert.equal(isDone, true)
      assert.deepEqual(await asking, reply)
      assert.equal(askedFor(server), asked)
      assert.equal(hedges(server), counted)
    })
  }

  test('ends the slower query, and checks a first upstream that lost', async () => {
    const server = serveSlow({ 1: [500, ['NOERROR', A]], 2: [10, ['NOERROR', B]] })
    const asking = server.ask(ASK)
    await server.host.advance(60)
    await asking
    assert.deepEqual(aborted(server), [true, true])
    await server.host.advance(10_000)
    assert.equal(askedFor(server, '.'), '1')
    assert.equal(askedFor(server), '1 2')
  })

  test('prefers a response without an rcode of failover', async () => {
    const line = directive(
      'forward . 192.0.2.1 192.0.2.2',
      'policy sequential',
      'hedge 50ms',
      'failover SERVFAIL',
    )
    const server = serveSlow({ 1: [200, ['NOERROR', A]], 2: [10, ['SERVFAIL']] }, line)
    const asking = server.ask(ASK)
    await server.host.advance(200)
    assert.deepEqual(await asking, ['NOERROR rd', A])
  })

  test('sends at most a tenth more queries, and ten at once', async () => {
    const server = serveSlow({ 1: [60, ['NOERROR', A]], 2: [60, ['NOERROR', B]] })
    for (let i = 0; i < 300; i++) {
      const asking = server.ask(`n${i}.example.org A`)
      await server.host.advance(60)
      await asking
    }
    const second = server.host.asked.filter(({ upstream }) => upstream.startsWith('192.0.2.2'))
    assert.ok(second.length >= 30 && second.length <= 40, String(second.length))
    assert.equal(hedges(server), `lost ${second.length}, none ${300 - second.length}`)
  })

  test('queries no upstream that is down', async () => {
    let delayMs: number | undefined
    const server = serveForward(LINE, {
      1: ({ question }) => {
        if (delayMs === undefined) return DEAD
        if (question.startsWith('. ')) return ['NOERROR']
        return new Promise((resolve) => {
          server.host.after(delayMs ?? 0, () => resolve(['NOERROR', A]))
        })
      },
    })
    await server.ask(ASK)
    delayMs = 500
    await server.host.advance(625)
    const before = askedFor(server)
    const asking = server.ask(ASK)
    await server.host.advance(500)
    assert.deepEqual(await asking, ['NOERROR rd', A])
    assert.equal(askedFor(server), `${before} 1`)
    assert.equal(hedges(server), 'none 1')
  })
})
