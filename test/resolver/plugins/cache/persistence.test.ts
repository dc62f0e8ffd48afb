import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createResolver } from '../../../../src/resolver/chain/create-resolver.ts'
import { block, directive, parseBlocks, Server, serve } from '../../../ask.ts'
import { FakeHost, settle, type UpstreamAct, type UpstreamScript } from '../../../fake-host.ts'
import { A } from './kept-cases.ts'
import { half } from './serve-cache.ts'

const CACHE = directive('cache', 'persist cache.bin')
const ASK = 'www.example.org A'
const DENIED = [
  'NXDOMAIN ra',
  'authority: example.org. 60 IN SOA ns.example.org. a.example.org. 1 2 3 4 60',
]
const SERVED = A.replace(/ \d+ IN/, ' 60 IN')

/** Starts a server with the files of a previous one, `downMs` after that was stopped. */
async function start(
  upstream: UpstreamAct,
  { before, downMs = 0, cache = CACHE }: { before?: Server; downMs?: number; cache?: string } = {},
): Promise<Server> {
  const files = Object.fromEntries(before?.host.files ?? [])
  const server = serve(block('errors', cache, 'forward . 192.0.2.53'), {
    files,
    upstream: ({ question }) =>
      question.startsWith('nosuch') && Array.isArray(upstream) ? DENIED : upstream,
  })
  if (before !== undefined) server.host.step(before.host.now() - server.host.now() + downMs)
  server.resolver.start()
  await server.host.advance(0)
  return server
}

const DEAD: UpstreamAct = new Error('connection refused')
const ANSWERED: UpstreamAct = ['NOERROR ra', SERVED]

/** A server that has cached one positive and one negative response, and was stopped. */
async function stopped(cache = CACHE): Promise<Server> {
  const server = await start(ANSWERED, { cache })
  await server.ask(ASK)
  await server.ask('nosuch.example.org A')
  await server.host.advance(10_000)
  server.resolver.stop()
  return server
}

describe('persist', () => {
  const ages: readonly { downMs: number; ttl: number | undefined }[] = [
    { downMs: 0, ttl: 50 },
    { downMs: 30_500, ttl: 20 },
    { downMs: 49_999, ttl: 1 },
    { downMs: 50_000, ttl: undefined },
    { downMs: -10_001, ttl: undefined },
  ]
  for (const { downMs, ttl } of ages) {
    const what = ttl === undefined ? 'forgets' : `has ${ttl} s left for`
    test(`${what} an entry of 10 s after ${downMs} ms`, async () => {
      const server = await start(DEAD, { before: await stopped(), downMs })
      const reply = await server.ask(ASK)
      const negative = await server.ask('nosuch.example.org A')
      if (ttl === undefined) {
        assert.deepEqual([reply, negative], [['SERVFAIL rd'], ['SERVFAIL rd']])
        return
      }
      assert.deepEqual(reply, ['NOERROR aa rd ra', SERVED.replace('60', String(ttl))])
      assert.deepEqual(negative, [
        'NXDOMAIN aa rd ra',
        ...DENIED.slice(1).map((line) => line.replace('60', String(ttl))),
      ])
      assert.deepEqual(server.host.asked, [])
    })
  }

  test('serves stale entries of the previous process', async () => {
    const cache = directive('cache', 'persist cache.bin', 'serve_stale 1h')
    const before = await stopped(cache)
    const server = await start(DEAD, { before, downMs: 600_000, cache })
    assert.deepEqual(await server.ask(ASK), ['NOERROR aa rd ra', SERVED.replace('60', '0')])
    const late = await start(DEAD, { before, downMs: 3_700_000, cache })
    assert.deepEqual(await late.ask(ASK), ['SERVFAIL rd'])
  })

  test('logs how many entries it read, and counts them', async () => {
    const { host } = await start(DEAD, { before: await stopped() })
    assert.deepEqual(host.events, [
      { level: 'info', message: 'read the cache file', path: 'cache.bin', entries: 2 },
    ])
    for (const type of ['success', 'denial']) {
      assert.ok(host.metrics.format().includes(`coredns_cache_entries{${half(type)}} 1\n`))
    }
  })

  test('says nothing without a file', async () => {
    assert.deepEqual((await start(DEAD)).host.events, [])
  })

  for (const [name, corefile] of [
    ['another upstream', block('errors', CACHE, 'forward . 192.0.2.54')],
    ['other zones', block('errors', CACHE, 'forward . 192.0.2.53').replace('.', 'example.org')],
  ] as const) {
    test(`ignores a file of a cache with ${name}, with one line`, async () => {
      const files = Object.fromEntries((await stopped()).host.files)
      const { host, resolver } = serve(corefile, { files })
      resolver.start()
      await settle()
      assert.deepEqual(host.events, [
        {
          level: 'warning',
          message: 'ignores the cache file',
          path: 'cache.bin',
          reason: 'it is damaged',
        },
      ])
    })
  }

  test('reads the file of a block that only moved in the Corefile', async () => {
    const files = Object.fromEntries((await stopped()).host.files)
    const moved = `\n# moved\n\n${block('errors', CACHE, 'forward . 192.0.2.53')}`
    const { host, resolver } = serve(moved, { files })
    resolver.start()
    await settle()
    assert.equal(host.events[0]?.message, 'read the cache file')
  })

  test('writes the file every five minutes', async () => {
    const server = await start(ANSWERED)
    await server.ask(ASK)
    await server.host.advance(299_999)
    assert.equal(server.host.files.has('cache.bin'), false)
    await server.ask(ASK)
    await server.host.advance(1)
    const killed = server
    const next = await start(DEAD, { before: killed })
    assert.equal((await next.ask(ASK)).length, 2)
  })

  test('reads a thousand entries at a time, and leaves the file as it is until the end', async () => {
    const before = await start(ANSWERED)
    for (let i = 0; i < 1100; i++) await before.ask(`nosuch${i}.example.org A`)
    before.resolver.stop()
    const files = Object.fromEntries(before.host.files)
    const serveNext = (): Server =>
      serve(block('errors', CACHE, 'forward . 192.0.2.53'), { files, upstream: () => DEAD })
    const stoppedEarly = serveNext()
    stoppedEarly.resolver.start()
    stoppedEarly.resolver.stop()
    assert.equal(stoppedEarly.host.files.get('cache.bin'), files['cache.bin'])
    const next = serveNext()
    next.resolver.start()
    await settle()
    assert.equal(next.host.events.length, 0)
    await next.host.advance(0)
    assert.equal(next.host.events.at(-1)?.entries, 1100)
  })

  test('writes all entries', async () => {
    const corefile = block(CACHE, 'forward . 192.0.2.53')
    const upstream: UpstreamScript = ({ question }) => [
      'NOERROR ra',
      `${question.split(' ')[0]} 3600 IN A 192.0.2.1`,
    ]
    const server = serve(corefile, { upstream })
    server.resolver.start()
    for (let i = 0; i < 120; i++) await server.ask(`n${i}.example.org A`)
    await server.host.advance(300_000)
    const next = serve(corefile, { files: Object.fromEntries(server.host.files) })
    next.host.step(300_000)
    next.resolver.start()
    await settle()
    assert.equal(next.host.events[0]?.entries, 120)
  })

  test('writes in slices when it is stopped', async () => {
    const corefile = block('errors', CACHE, 'forward . 192.0.2.53')
    const host = new FakeHost({ upstream: () => DENIED })
    let ms = 0
    Object.assign(host, { elapsed: () => ms++ })
    const server = new Server(createResolver(parseBlocks(corefile), host), host)
    server.resolver.start()
    await settle()
    for (let i = 0; i < 20; i++) await server.ask(`nosuch${i}.example.org A`)
    const stopping = server.resolver.stop()
    assert.equal(host.files.has('cache.bin'), false)
    await stopping
    const next = await start(DEAD, { before: server })
    assert.equal(next.host.events.at(-1)?.entries, 20)
  })

  test('writes nothing after it was stopped while it read', async () => {
    const before = await stopped()
    const server = serve(block('errors', CACHE, 'forward . 192.0.2.53'), {
      files: Object.fromEntries(before.host.files),
    })
    server.resolver.start()
    await server.resolver.stop()
    await server.host.advance(600_000)
    assert.equal(server.host.timerCount, 0)
    assert.deepEqual([...server.host.files], [...before.host.files])
  })

  test('does not replace a response that came first', async () => {
    const before = await stopped()
    const newer = SERVED.replace('192.0.2.', '198.51.100.')
    const server = serve(block('errors', CACHE, 'forward . 192.0.2.53'), {
      files: Object.fromEntries(before.host.files),
      upstream: () => ['NOERROR ra', newer],
    })
    server.host.step(before.host.now() - server.host.now())
    await server.host.advance(1)
    await server.ask(ASK)
    server.resolver.start()
    await server.host.advance(0)
    assert.equal((await server.ask(ASK))[1], newer)
  })

  test('logs why it cannot write, at the start and each time after', async () => {
    const server = serve(block('errors', CACHE, 'forward . 192.0.2.53'))
    server.host.writeFailure = new Error('no space left')
    server.resolver.start()
    await server.host.advance(600_000)
    server.resolver.stop()
    await settle()
    const event = {
      level: 'warning',
      message: 'cannot write the cache file',
      path: 'cache.bin',
      reason: 'no space left',
    }
    assert.deepEqual(server.host.events, [event, event, event, event])
    assert.equal(server.host.timerCount, 0)
  })
})
