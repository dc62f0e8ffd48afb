import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatProblem } from '../../../../src/corefile/problem.ts'
import { createResolver } from '../../../../src/resolver/chain/create-resolver.ts'
import { failure } from '../../../../src/resolver/contract/outcome.ts'
import { block, directive, parseBlocks, serve } from '../../../ask.ts'
import { FakeHost } from '../../../fake-host.ts'
import { serveWith } from '../../chain/serve-with.ts'
import { A, ASK } from './relay-cases.ts'
import { askedFor, DEAD, serveForward } from './serve-forward.ts'

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

describe('queries that go to the next forward', () => {
  const second = '\n  forward . 192.0.2.2'
  const cases: { name: string; line: string; first: string[]; asked: string }[] = [
    {
      name: 'are those with a response code that says so',
      line: directive('forward . 192.0.2.1', 'next NXDOMAIN refused') + second,
      first: ['REFUSED'],
      asked: '1 2',
    },
    {
      name: 'are none with another code',
      line: directive('forward . 192.0.2.1', 'next NXDOMAIN') + second,
      first: ['SERVFAIL'],
      asked: '1',
    },
    {
      name: 'are none when there is no data',
      line: directive('forward . 192.0.2.1', 'next NXDOMAIN') + second,
      first: ['NOERROR'],
      asked: '1',
    },
    {
      name: 'are those without data when configured so',
      line: directive('forward . 192.0.2.1', 'next_on_nodata') + second,
      first: ['NOERROR', 'authority: example.org. 60 IN NS ns.example.org.'],
      asked: '1 2',
    },
    {
      name: 'are none with data',
      line: directive('forward . 192.0.2.1', 'next_on_nodata') + second,
      first: ['NOERROR', A],
      asked: '1',
    },
    {
      name: 'are none when all upstreams fail',
      line: directive('forward . 192.0.2.1', 'next SERVFAIL', 'max_connect_attempts 1') + second,
      first: [],
      asked: '1',
    },
    {
      name: 'pass over one that is for another zone',
      line: `${directive('forward . 192.0.2.1', 'next NXDOMAIN')}\n  forward net 192.0.2.3${second}`,
      first: ['NXDOMAIN'],
      asked: '1 2',
    },
  ]
  for (const { name, line, first, asked } of cases) {
    test(name, async () => {
      const acts = { 1: first.length === 0 ? DEAD : first, 2: ['NOERROR'], 3: ['NOERROR'] }
      const server = serveForward(line, acts)
      await server.ask(ASK)
      assert.equal(askedFor(server), asked)
    })
  }

  test('are none where no other forward follows', async () => {
    const line = directive('forward . 192.0.2.1', 'next NXDOMAIN')
    const server = serveForward(`${line}\n  whoami`, { 1: ['NXDOMAIN'] })
    assert.deepEqual(await server.ask(ASK), ['NXDOMAIN rd'])
  })
})

describe('what forward says of itself', () => {
  test('is the upstream that a request went to last', async () => {
    const { resolver } = serveForward('forward . 192.0.2.1', { 1: ['NOERROR', A] })
    const [forward] = resolver.listeners[0]?.zones[0]?.chain.plugins.slice(-1) ?? []
    assert.ok(forward?.serve)
    const known: (string | undefined)[] = []
    const server = serveWith({
      name: 'test',
      serve: async (request) => {
        const metadataOf = (label: string): string | undefined => forward.metadata?.(label, request)
        known.push(metadataOf('forward/upstream'))
        const outcome = await forward.serve?.({ ...request }, () => failure(2))
        known.push(metadataOf('forward/upstream'), metadataOf('forward/other'))
        return outcome ?? failure(2)
      },
    })
    assert.deepEqual(await server.ask(ASK), ['NOERROR rd', A])
    assert.deepEqual(known, [undefined, '192.0.2.1:53', undefined])
  })

  test('returns which upstreams are hostnames', () => {
    const { resolver } = serve(block('forward . tls://dns.example.org 192.0.2.1'))
    assert.deepEqual(resolver.notices.map(formatProblem), [
      'Corefile:2:13: "dns.example.org" is neither an address nor a file: kubedoh resolves it ' +
        'as a hostname',
    ])
  })

  test('returns why an upstream cannot be used', () => {
    const openUpstream = (): never => {
      throw new Error('a Worker queries upstreams over https:// only')
    }
    const host = Object.assign(new FakeHost(), { openUpstream })
    assert.throws(
      () => createResolver(parseBlocks(block('forward . 192.0.2.1')), host),
      /^ConfigError: Corefile:2:3: a Worker queries upstreams over https:\/\/ only$/,
    )
  })
})
