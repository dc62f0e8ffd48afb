import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, serve } from '../../../ask.ts'
import { START_MS } from '../../../fake-host.ts'

const SOA = `example.org. 30 IN SOA ns.dns.example.org. hostmaster.example.org. ${START_MS / 1000} 7200 1800 86400 30`
const DENIED = ['NXDOMAIN aa rd', `authority: ${SOA}`]
const EMPTY = ['NOERROR aa rd', `authority: ${SOA}`]
const BROKEN = ['SERVFAIL aa rd', `authority: ${SOA}`]
const KEYS = {
  '/skydns/org/example/www': { host: '192.0.2.1' },
  '/skydns/org/example/bad': '{notjson',
  '/skydns/org/example/text/a': { text: 'hello' },
  '/other/org/example/www': { host: '192.0.2.2' },
}
const COREFILE = block('etcd example.org')

type Case = {
  readonly name: string
  readonly corefile?: string
  readonly ask: string
  readonly reply: readonly string[]
}

describe('a CNAME that points out of the zone', () => {
  const link = 'www.example.org. 300 IN CNAME x.example.net.'
  const theirSoa = 'authority: example.net. 60 IN SOA a. b. 1 2 3 4 5'
  const cases: {
    upstream: readonly string[]
    keys?: object
    reply: readonly string[]
    rfc?: readonly string[]
  }[] = [
    { upstream: ['NXDOMAIN', theirSoa], reply: ['NXDOMAIN aa rd', link, theirSoa] },
    {
      upstream: ['NOERROR', theirSoa],
      reply: ['NOERROR aa rd', link],
      rfc: ['NOERROR aa rd', link, theirSoa],
    },
    { upstream: ['REFUSED'], reply: ['NOERROR aa rd', link] },
    {
      upstream: ['NXDOMAIN', theirSoa],
      keys: { '/skydns/org/example/www/b': { host: '192.0.2.1' } },
      reply: ['NOERROR aa rd', link, 'www.example.org. 300 IN A 192.0.2.1'],
    },
  ]
  for (const { upstream, keys, reply, rfc = reply } of cases) {
    test(`has the code and SOA record of its end: ${upstream[0]}, ${reply.length - 1} records`, async () => {
      for (const [rules, lines] of [['coredns', reply] as const, ['rfc', rfc] as const]) {
        const etcd = directive('etcd example.org', `answers ${rules}`)
        const server = serve(block(etcd, 'forward . 192.0.2.53'), {
          keys: { '/skydns/org/example/www/a': { host: 'x.example.net' }, ...keys },
          upstream: () => upstream,
        })
        assert.deepEqual(await server.ask('www.example.org A'), lines)
      }
    })
  }
})

describe('etcd', () => {
  const cases: Case[] = [
    {
      name: 'answers from the key of a name',
      ask: 'www.example.org A',
      reply: ['NOERROR aa rd', 'www.example.org. 300 IN A 192.0.2.1'],
    },
    {
      name: 'keeps the letter case of the question, and finds keys in lower case',
      ask: 'WWW.example.org A',
      reply: ['NOERROR aa rd', 'WWW.example.org. 300 IN A 192.0.2.1'],
    },
    {
      name: 'denies a name without a key',
      corefile: block('etcd example.org', 'whoami'),
      ask: 'nosuch.example.org A',
      reply: DENIED,
    },
    { name: 'has no data of other types', ask: 'www.example.org AAAA', reply: EMPTY },
    { name: 'has no data where only texts are', ask: 'text.example.org A', reply: EMPTY },
    { name: 'fails where a value is not JSON', ask: 'bad.example.org A', reply: BROKEN },
    { name: 'fails above a value that is not JSON', ask: 'example.org TXT', reply: BROKEN },
    {
      name: 'answers SOA at and below its zone, of whatever name',
      ask: 'nosuch.example.org SOA',
      reply: ['NOERROR aa rd', SOA],
    },
    {
      name: 'begins with its path',
      corefile: block(directive('etcd example.org', 'path /other/')),
      ask: 'www.example.org A',
      reply: ['NOERROR aa rd', 'www.example.org. 300 IN A 192.0.2.2'],
    },
    {
      name: 'leaves other zones to the next plugin',
      corefile: block('etcd example.org', directive('hosts none', '192.0.2.9 www.example.net')),
      ask: 'www.example.net A',
      reply: ['NOERROR aa rd', 'www.example.net. 3600 IN A 192.0.2.9'],
    },
    {
      name: 'lets names without a key go on, where they may',
      corefile: block(directive('etcd example.org', 'fallthrough sub.example.org'), 'whoami'),
      ask: 'nosuch.sub.example.org A',
      reply: [
        'NOERROR aa rd',
        'additional: nosuch.sub.example.org. 0 IN A 198.51.100.7',
        'additional: _udp.nosuch.sub.example.org. 0 IN SRV 0 0 4242 .',
      ],
    },
    {
      name: 'keeps the others',
      corefile: block(directive('etcd example.org', 'fallthrough sub.example.org'), 'whoami'),
      ask: 'nosuch.example.org A',
      reply: DENIED,
    },
    {
      name: 'keeps names that exist, of other types',
      corefile: block(directive('etcd example.org', 'fallthrough'), 'whoami'),
      ask: 'www.example.org AAAA',
      reply: EMPTY,
    },
  ]
  for (const { name, corefile = COREFILE, ask, reply } of cases) {
    test(name, async () => {
      assert.deepEqual(await serve(corefile, { keys: KEYS }).ask(ask), reply)
    })
  }

  test('fails until the keys have been read, and says so', async () => {
    const server = serve(COREFILE)
    assert.deepEqual(await server.ask('www.example.org A'), BROKEN)
    const reply = await server.ask('www.example.org A +edns')
    assert.deepEqual(reply.slice(-1), ['ede: 14 the keys of etcd are not read yet'])
  })

  test('answers what keys say now, past a cache', async () => {
    const server = serve(block('cache', 'etcd example.org'), { keys: KEYS })
    await server.ask('www.example.org A')
    const value = '{"host":"192.0.2.77"}'
    server.host.keys?.set({ key: '/skydns/org/example/www', value, lease: '' })
    const [, record] = await server.ask('www.example.org A')
    assert.equal(record, 'www.example.org. 300 IN A 192.0.2.77')
  })

  test('says which etcd it wants, and with which path', () => {
    const { host } = serve(block('etcd example.org'))
    assert.deepEqual(host.connections, [
      {
        file: 'Corefile',
        line: 2,
        column: 3,
        path: '/skydns',
        endpoints: ['http://localhost:2379'],
        tls: {},
        credentials: undefined,
      },
    ])
  })
})
