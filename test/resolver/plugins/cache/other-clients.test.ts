import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, type Server, serve } from '../../../ask.ts'
import type { UpstreamAct } from '../../../fake-host.ts'
import { A, ASK, PLAIN } from '../forward/relay-cases.ts'

const SOA = 'authority: example.org. 60 IN SOA ns.example.org. a.example.org. 1 2 3 4 60'
/** What upstreams send to a query without RD, which they do not resolve. */
const UNRESOLVED: Readonly<Record<string, UpstreamAct>> = {
  'a referral': ['NOERROR', 'authority: org. 60 IN NS ns.org.'],
  'an empty response': ['NOERROR'],
  NODATA: ['NOERROR', SOA],
  NXDOMAIN: ['NXDOMAIN', SOA],
  SERVFAIL: ['SERVFAIL'],
  REFUSED: ['REFUSED'],
  silence: 'silence',
}
const RESOLVED = ['NOERROR rd', A]

/** A server whose upstream resolves names only for queries with RD. */
function recursive(cache: string, unresolved: UpstreamAct): Server {
  return serve(block(cache, PLAIN), {
    upstream: ({ question }) => (/ rd\b/.test(question) ? ['NOERROR', A] : unresolved),
  })
}

describe('a query without RD', () => {
  for (const [name, unresolved] of Object.entries(UNRESOLVED)) {
    test(`that brings ${name} decides nothing for a client with RD`, async () => {
      const server = recursive('cache', unresolved)
      const waiting = server.ask(`${ASK} +nord`)
      assert.deepEqual((await server.ask(ASK)).slice(0, 1), ['NOERROR rd'], 'at once')
      await server.host.advance(4000)
      await waiting
      assert.deepEqual((await server.ask(ASK)).slice(1), [A.replace('60', '56')])
    })

    test(`that brings ${name} refreshes nothing for a client with RD`, async () => {
      const server = recursive(directive('cache', 'serve_stale', 'prefetch 1'), unresolved)
      assert.deepEqual(await server.ask(ASK), RESOLVED)
      for (const seconds of [55, 10]) {
        await server.host.advance(seconds * 1000)
        void server.ask(`${ASK} +nord`)
        await server.host.advance(4000)
        assert.deepEqual((await server.ask(ASK)).length, 2)
      }
    })
  }

  test('gets its own entry from a file', async () => {
    const lines = directive('cache', 'persist kept')
    const before = recursive(lines, ['NXDOMAIN', SOA])
    before.resolver.start()
    await before.ask(`${ASK} +nord`)
    before.resolver.stop()
    const files = { kept: before.host.files.get('kept') ?? assert.fail('no file') }
    const after = serve(block(lines, PLAIN), { files, upstream: () => ['NOERROR', A] })
    after.resolver.start()
    await after.host.advance(0)
    assert.deepEqual(await after.ask(ASK), RESOLVED)
    assert.equal((await after.ask(`${ASK} +nord`))[0], 'NXDOMAIN aa')
  })
})

test('options that upstreams do not get multiply neither queries nor entries', async () => {
  for (const cache of ['cache', 'errors']) {
    const server = serve(block(cache, PLAIN), { upstream: () => ['NOERROR', A] })
    const asked = Array.from({ length: 200 }, (_, i) => {
      const data = i.toString(16).padStart(4, '0')
      return server.ask(`${ASK} +option=${i % 2 === 0 ? 65_001 : 20_292}:${data}`)
    })
    await Promise.all(asked)
    assert.equal(server.host.asked.length, 1)
  }
})
