import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { Chain } from '../../../src/resolver/chain/chain.ts'
import { block, directive, problemsOf, type Server, serve } from '../../ask.ts'

/** One directive for each plugin that answers or looks on, in the order in which they act. */
const DIRECTIVES = [
  'bufsize 512',
  'prometheus',
  'errors',
  'log',
  'any',
  'loadbalance',
  'cache',
  'minimal',
  'hosts',
  'kubernetes cluster.local',
  'loop',
  'forward . 192.0.2.53',
  'whoami',
]
const CLUSTER = { objects: '[]' }

function chainOf(server: Server): Chain {
  const chain = server.resolver.listeners[0]?.zones[0]?.chain
  assert.ok(chain)
  return chain
}

describe('the order of plugins', () => {
  test('is always the same, whatever the order in the file', () => {
    const wanted = DIRECTIVES.map((line) => line.split(' ')[0])
    fc.assert(
      fc.property(fc.shuffledSubarray(DIRECTIVES), (lines) => {
        const { plugins } = chainOf(serve(block(...lines), { cluster: CLUSTER }))
        const names = plugins.map(({ name }) => name)
        const expected = wanted.filter((name) => lines.some((line) => line.split(' ')[0] === name))
        assert.deepEqual(names, expected)
      }),
    )
  })

  const hosts = directive('hosts none', '192.0.2.1 www.example.org', 'fallthrough')
  const cases: { name: string; directives: string[]; ask: string; reply: string[] }[] = [
    {
      name: 'has hosts before forward',
      directives: ['forward . 192.0.2.53', hosts],
      ask: 'www.example.org A',
      reply: ['NOERROR aa rd', 'www.example.org. 3600 IN A 192.0.2.1'],
    },
    {
      name: 'has forward before whoami',
      directives: ['whoami', 'forward . 192.0.2.53'],
      ask: 'www.example.net A',
      reply: ['NOERROR rd ra', 'www.example.net. 60 IN A 192.0.2.80'],
    },
    {
      name: 'has any before hosts',
      directives: [hosts, 'any'],
      ask: 'www.example.org ANY',
      reply: ['NOERROR rd', 'www.example.org. 8482 IN HINFO "ANY obsoleted" "See RFC 8482"'],
    },
    {
      name: 'has cache before hosts',
      directives: [hosts, 'cache 10'],
      ask: 'www.example.org A',
      reply: ['NOERROR aa rd', 'www.example.org. 10 IN A 192.0.2.1'],
    },
  ]
  for (const { name, directives, ask, reply } of cases) {
    test(name, async () => {
      const server = serve(block(...directives), {
        upstream: () => ['NOERROR ra', 'www.example.net. 60 IN A 192.0.2.80'],
      })
      assert.deepEqual(await server.ask(ask), reply)
    })
  }
})

describe('compileChain', () => {
  test('gives all directives of one name to one plugin', async () => {
    const server = serve(
      block('forward example.org 192.0.2.1', 'whoami', 'forward example.net 192.0.2.2'),
      { upstream: () => ['NOERROR ra'] },
    )
    await server.ask('www.example.net A')
    await server.ask('www.example.org A')
    assert.deepEqual(
      server.host.asked.map(({ upstream }) => upstream),
      ['192.0.2.2:53', '192.0.2.1:53'],
    )
  })

  test('fails after the last plugin, with the reason', async () => {
    const server = serve(block('errors', 'loadbalance'))
    assert.deepEqual(await server.ask('www.example.org A'), ['SERVFAIL rd'])
    assert.deepEqual(
      server.host.events.map(({ message }) => message),
      ['no plugin of the server block has an answer'],
    )
  })

  test('refuses in a block with no plugin that could answer or pass on, as CoreDNS does', async () => {
    assert.deepEqual(await serve('example.org').ask('www.example.org A'), ['REFUSED rd'])
    const server = serve(block('ready', 'health', 'bind 192.0.2.1', 'reload'))
    assert.deepEqual(await server.ask('www.example.org A'), ['REFUSED rd'])
    assert.deepEqual(await serve(block('cache')).ask('www.example.org A'), ['SERVFAIL rd'])
  })

  test('collects features in the order of plugins', () => {
    const { features } = chainOf(serve(block('prometheus', 'health', 'ready', 'bind 192.0.2.1')))
    assert.deepEqual(
      features.map(({ kind }) => kind),
      ['bind', 'ready', 'health', 'metrics'],
    )
  })

  test('has those look on that look on', () => {
    const { observers } = chainOf(serve(block('log', 'whoami', 'prometheus', 'errors')))
    assert.equal(observers.length, 2)
  })

  test('reports unknown plugins and bad options together', () => {
    assert.deepEqual(problemsOf(block('cahce', 'bufsize 1', 'Errors')), [
      'Corefile:2:3: there is no plugin "cahce"; did you mean "cache"?',
      'Corefile:4:3: there is no plugin "Errors"; did you mean "errors"?',
      'Corefile:3:11: "1" is not a number from 512 to 4096',
    ])
  })
})
