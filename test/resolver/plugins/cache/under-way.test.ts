import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, type Server, serve } from '../../../ask.ts'
import { settle, type UpstreamAct } from '../../../fake-host.ts'
import { ASK, answer, askedCount, brief, DEAD } from './follow.ts'
import { half, LABELS } from './serve-cache.ts'

/** Clients that differ in all that an entry does not depend on. */
const CLIENTS = ['+id=1', '+id=2 +edns', '+id=3 +edns=4096', '+id=4 +tcp', '+id=5 +ad']

/** A server with a cache whose upstream responds when the test releases it. */
function serveHeld(
  options: readonly string[],
  acts: readonly UpstreamAct[],
  isolatesRequests = false,
): { server: Server; release: () => Promise<void> } {
  const left = [...acts]
  let held: (() => void)[] = []
  const server = serve(block(directive('cache', ...options), 'forward . 192.0.2.53'), {
    isolatesRequests,
    upstream: ({ question }) => {
      if (!question.startsWith('www')) return DEAD
      const act = left.length > 1 ? left.shift() : left[0]
      return new Promise((resolve) => held.push(() => resolve(act ?? DEAD)))
    },
  })
  const release = async (): Promise<void> => {
    await settle()
    for (const one of held.splice(0)) one()
    held = []
    await settle()
  }
  return { server, release }
}

const askAll = (server: Server): Promise<string[]>[] =>
  CLIENTS.map((words) => server.ask(`${ASK} ${words}`))

describe('misses of one entry at once', () => {
  test('cause one query, and each client gets its own ID, case and EDNS', async () => {
    const { server, release } = serveHeld([], [answer(1), answer(2)])
    const asked = [...askAll(server), server.ask('WWW.example.org A +id=6')]
    await release()
    const replies = await Promise.all(asked)
    assert.deepEqual(
      replies.map((lines) => brief(lines).toLowerCase()),
      replies.map(() => 'noerror 1 10'),
    )
    assert.equal(askedCount(server), 1)
    const hasEdns = replies.map((lines) => lines.some((line) => line.startsWith('edns')))
    assert.deepEqual(hasEdns, [false, true, true, false, false, false])
    const lines = server.host.metrics.format().split('\n')
    assert.ok(lines.includes(`coredns_cache_requests_total{${LABELS}} 6`))
    assert.ok(lines.includes(`coredns_cache_misses_total{${LABELS}} 1`))
    const bytes = lines.find((line) => line.startsWith(`kubedoh_cache_bytes{${half('success')}} `))
    assert.ok(Number(bytes?.split(' ')[1]) > 900)
  })

  for (const words of ['+do', '+cd', '+option=8:000118000a0000']) {
    test(`are apart with ${words}, on which responses depend`, async () => {
      const { server, release } = serveHeld([], [answer(1)])
      const asked = [server.ask(ASK), server.ask(`${ASK} ${words}`)]
      await release()
      await Promise.all(asked)
      assert.equal(askedCount(server), 2)
    })
  }

  test('fail together', async () => {
    const { server, release } = serveHeld([], [new Error('connection refused')])
    const asked = askAll(server)
    await release()
    await release()
    assert.ok((await Promise.all(asked)).every(([head]) => head?.startsWith('SERVFAIL')))
    assert.equal(askedCount(server), 2, 'the attempts of one query')
  })

  test('share no response that the cache may not store', async () => {
    const { server, release } = serveHeld([], [['NOERROR tc'], answer(2)])
    const asked = ['+id=1', '+id=2 +tcp'].map((words) => server.ask(`${ASK} ${words}`))
    await release()
    await release()
    const [first = [], second = []] = await Promise.all(asked)
    assert.match(first[0] ?? '', /\btc\b/)
    assert.equal(brief(second), 'NOERROR 2 10')
    assert.equal(askedCount(server), 2)
  })

  test('ask one by one where one request may not wait for another', async () => {
    const { server, release } = serveHeld([], [answer(1)], true)
    const asked = askAll(server)
    await release()
    await Promise.all(asked)
    assert.equal(askedCount(server), CLIENTS.length)
  })

  test('wait 4,096 at a time; others ask by themselves', async () => {
    const { server, release } = serveHeld([], [answer(1)])
    const first = server.ask(ASK)
    const others = Array.from({ length: 4096 }, () => server.ask(`${ASK} +edns`))
    const beyond = server.ask(`${ASK} +tcp`)
    await release()
    await Promise.all([first, beyond, ...others])
    assert.equal(askedCount(server), 2)
  })
})

/**
 * Has one client query an entry, and all clients 10 seconds later. Returns the replies to
 * these.
 */
async function askTwice({ server, release }: ReturnType<typeof serveHeld>): Promise<string[]> {
  const first = server.ask(ASK)
  await release()
  await first
  await server.host.advance(10_000)
  const asked = askAll(server)
  await release()
  assert.equal(askedCount(server), 2)
  return (await Promise.all(asked)).map(brief)
}

describe('a refresh', () => {
  test('is one for all clients that verify a stale entry', async () => {
    const held = serveHeld(['serve_stale 1h verify'], [answer(1), answer(2)])
    const expected = CLIENTS.map(() => 'NOERROR 2 10')
    assert.deepEqual(await askTwice(held), expected)
  })

  test('that fails leaves all clients the stale entry', async () => {
    const held = serveHeld(['serve_stale 1h verify'], [answer(1), ['SERVFAIL']])
    const expected = CLIENTS.map(() => 'NOERROR 1 0')
    assert.deepEqual(await askTwice(held), expected)
  })

  test('ahead of time serves clients that come after the entry has expired', async () => {
    const { server, release } = serveHeld(['prefetch 1'], [answer(1), answer(2)])
    const first = server.ask(ASK)
    await release()
    await first
    await server.host.advance(9000)
    assert.equal(brief(await server.ask(ASK)), 'NOERROR 1 1')
    await server.host.advance(1000)
    const asked = askAll(server)
    await release()
    assert.deepEqual(
      (await Promise.all(asked)).map(brief),
      CLIENTS.map(() => 'NOERROR 2 10'),
    )
    assert.equal(askedCount(server), 2)
  })
})
