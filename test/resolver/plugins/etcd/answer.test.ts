import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { soaRecordAt } from '../../../../src/resolver/plugins/etcd/answer.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'
import { block, directive, serve } from '../../../ask.ts'

const UPSTREAM = {
  'www.example.net. IN A rd': ['NOERROR rd ra', 'www.example.net. 60 IN A 192.0.2.80'],
  'www.example.net. IN AAAA rd': [
    'NOERROR rd ra',
    'www.example.net. 60 IN CNAME w.example.net.',
    'w.example.net. 60 IN AAAA 2001:db8::80',
  ],
  'nosuch.example.net. IN A rd': ['NXDOMAIN rd ra'],
  'nosuch.example.net. IN AAAA rd': ['SERVFAIL rd ra'],
}
const COREFILE = block('etcd example.org 192.0.2.0/24', 'forward . 192.0.2.53')
const RFC = block(directive('etcd example.org', 'answers rfc'), 'forward . 192.0.2.53')

type Case = {
  readonly name: string
  /** Values by key below `/skydns`. */
  readonly keys: Readonly<Record<string, unknown>>
  readonly ask: string
  /** The reply without authority section, where it is not just a name that is there or not. */
  readonly reply: readonly string[]
}

const CASES: readonly Case[] = [
  {
    name: 'SRV: an address gets the name of its key, and is beside',
    keys: { '/org/example/web/x': { host: '192.0.2.1', port: 80 } },
    ask: 'web.example.org SRV',
    reply: [
      'NOERROR aa rd',
      'web.example.org. 300 IN SRV 10 100 80 x.web.example.org.',
      'additional: x.web.example.org. 300 IN A 192.0.2.1',
    ],
  },
  {
    name: 'SRV: weights are shares of 100 within a priority, 1 at least',
    keys: {
      '/org/example/web/a': { host: '192.0.2.1', weight: 1 },
      '/org/example/web/b': { host: '192.0.2.2', weight: 500 },
      '/org/example/web/c': { host: '192.0.2.3', priority: 20 },
    },
    ask: 'web.example.org SRV',
    reply: [
      'NOERROR aa rd',
      'web.example.org. 300 IN SRV 10 1 0 a.web.example.org.',
      'web.example.org. 300 IN SRV 10 99 0 b.web.example.org.',
      'web.example.org. 300 IN SRV 20 100 0 c.web.example.org.',
      'additional: a.web.example.org. 300 IN A 192.0.2.1',
      'additional: b.web.example.org. 300 IN A 192.0.2.2',
      'additional: c.web.example.org. 300 IN A 192.0.2.3',
    ],
  },
  {
    name: 'SRV: hosts elsewhere are looked up, once each',
    keys: {
      '/org/example/web/a': { host: 'www.example.net', port: 1 },
      '/org/example/web/b': { host: 'www.example.net', port: 2 },
      '/org/example/web/c': { host: 'nosuch.example.net', port: 3 },
    },
    ask: 'web.example.org SRV',
    reply: [
      'NOERROR aa rd',
      'web.example.org. 300 IN SRV 10 33 1 www.example.net.',
      'web.example.org. 300 IN SRV 10 33 2 www.example.net.',
      'web.example.org. 300 IN SRV 10 33 3 nosuch.example.net.',
      'additional: www.example.net. 60 IN A 192.0.2.80',
      'additional: w.example.net. 60 IN AAAA 2001:db8::80',
    ],
  },
  {
    name: 'SRV: a host in the zone has its IPv4 addresses beside',
    keys: {
      '/org/example/web': { host: 'own.example.org' },
      '/org/example/own/a': { host: '192.0.2.1' },
      '/org/example/own/b': { host: '2001:db8::1' },
    },
    ask: 'web.example.org SRV',
    reply: [
      'NOERROR aa rd',
      'web.example.org. 300 IN SRV 10 100 0 own.example.org.',
      'additional: own.example.org. 300 IN A 192.0.2.1',
    ],
  },
  {
    name: 'MX: only of what says that it is a mail server',
    keys: {
      '/org/example/mail/a': { host: '192.0.2.1', mail: true, priority: 5 },
      '/org/example/mail/b': { host: 'www.example.net', mail: true },
      '/org/example/mail/c': { host: '192.0.2.3' },
    },
    ask: 'mail.example.org MX',
    reply: [
      'NOERROR aa rd',
      'mail.example.org. 300 IN MX 5 a.mail.example.org.',
      'mail.example.org. 300 IN MX 10 www.example.net.',
      'additional: a.mail.example.org. 300 IN A 192.0.2.1',
      'additional: www.example.net. 60 IN A 192.0.2.80',
      'additional: w.example.net. 60 IN AAAA 2001:db8::80',
    ],
  },
  {
    name: 'MX: the address is that of the whole name when labels are taken off',
    keys: { '/org/example/mail/a': { host: '192.0.2.1', mail: true, targetstrip: 1 } },
    ask: 'mail.example.org MX',
    reply: [
      'NOERROR aa rd',
      'mail.example.org. 300 IN MX 10 mail.example.org.',
      'additional: a.mail.example.org. 300 IN A 192.0.2.1',
    ],
  },
  {
    name: 'CNAME: the first host that is a name, of the key itself',
    keys: { '/org/example/alias': { host: 'www.example.net' }, '/org/example/x/y': { host: 'z' } },
    ask: 'alias.example.org CNAME',
    reply: ['NOERROR aa rd', 'alias.example.org. 300 IN CNAME www.example.net.'],
  },
  {
    name: 'CNAME: a name that has only keys below it is denied',
    keys: { '/org/example/x/y': { host: 'z' } },
    ask: 'x.example.org CNAME',
    reply: ['NXDOMAIN aa rd'],
  },
  {
    name: 'CNAME: an address is none',
    keys: { '/org/example/www': { host: '192.0.2.1' } },
    ask: 'www.example.org CNAME',
    reply: ['NOERROR aa rd'],
  },
  {
    name: 'PTR: of an address, as a key',
    keys: { '/arpa/in-addr/192/0/2/1': { host: 'www.example.org', ttl: 7 } },
    ask: '1.2.0.192.in-addr.arpa PTR',
    reply: ['NOERROR aa rd', '1.2.0.192.in-addr.arpa. 7 IN PTR www.example.org.'],
  },
  {
    name: 'NS: of the zone, from below ns.dns',
    keys: {
      '/org/example/dns/ns/a': { host: '192.0.2.1' },
      '/org/example/dns/ns/b/x': { host: '192.0.2.2', targetstrip: 1 },
      '/org/example/dns/ns/b/y': { host: '2001:db8::2', targetstrip: 1 },
    },
    ask: 'example.org NS',
    reply: [
      'NOERROR aa rd',
      'example.org. 300 IN NS a.ns.dns.example.org.',
      'example.org. 300 IN NS b.ns.dns.example.org.',
      'additional: a.ns.dns.example.org. 300 IN A 192.0.2.1',
      'additional: b.ns.dns.example.org. 300 IN A 192.0.2.2',
      'additional: b.ns.dns.example.org. 300 IN AAAA 2001:db8::2',
    ],
  },
  {
    name: 'NS: one that is a name breaks them all',
    keys: { '/org/example/dns/ns/a': { host: 'ns.example.net' } },
    ask: 'example.org NS',
    reply: ['SERVFAIL aa rd'],
  },
  {
    name: 'NS: without any, the zone is denied',
    keys: { '/org/example/www': { host: '192.0.2.1' } },
    ask: 'example.org NS',
    reply: ['NXDOMAIN aa rd'],
  },
  {
    name: 'NS: no name below the zone has them',
    keys: { '/org/example/www': { host: '192.0.2.1' } },
    ask: 'www.example.org NS',
    reply: ['NOERROR aa rd'],
  },
  {
    name: 'A of the zone: from below apex.dns',
    keys: {
      '/org/example/dns/apex/a': { host: '192.0.2.1' },
      '/org/example/www': { host: '192.0.2.2' },
    },
    ask: 'example.org A',
    reply: ['NOERROR aa rd', 'example.org. 300 IN A 192.0.2.1'],
  },
  {
    name: 'A of the zone: of all its names, when nothing exists below apex.dns',
    keys: { '/org/example/www': { host: '192.0.2.2' } },
    ask: 'example.org A',
    reply: ['NOERROR aa rd', 'example.org. 300 IN A 192.0.2.2'],
  },
  {
    name: 'other types: a name that exists has none',
    keys: { '/org/example/www': { host: '192.0.2.2' } },
    ask: 'www.example.org CAA',
    reply: ['NOERROR aa rd'],
  },
  {
    name: 'other types: a missing name is denied',
    keys: { '/org/example/www': { host: '192.0.2.2' } },
    ask: 'nosuch.example.org ANY',
    reply: ['NXDOMAIN aa rd'],
  },
]

/** With `answers rfc`. */
const RFC_CASES: readonly Case[] = [
  {
    name: 'CNAME: the one with which A begins, of the keys below',
    keys: { '/org/example/x/y': { host: 'z' }, '/org/example/x/a': { host: '192.0.2.1' } },
    ask: 'x.example.org CNAME',
    reply: ['NOERROR aa rd', 'x.example.org. 300 IN CNAME z.'],
  },
  {
    name: 'CNAME: of external-dns, whose keys end with a label at random',
    keys: { '/org/example/www/1a2b': { host: 'lb.example.org', ttl: 60, targetstrip: 1 } },
    ask: 'www.example.org CNAME',
    reply: ['NOERROR aa rd', 'www.example.org. 60 IN CNAME lb.example.org.'],
  },
  {
    name: 'CNAME: of the zone, from below apex.dns',
    keys: { '/org/example/dns/apex/a': { host: 'lb.example.net' } },
    ask: 'example.org CNAME',
    reply: ['NOERROR aa rd', 'example.org. 300 IN CNAME lb.example.net.'],
  },
  {
    name: 'CNAME: addresses below are none, but the name exists (RFC 8020)',
    keys: { '/org/example/x/y': { host: '192.0.2.1' } },
    ask: 'x.example.org CNAME',
    reply: ['NOERROR aa rd'],
  },
  {
    name: 'PTR: a name with keys below it only has none, but exists',
    keys: { '/org/example/x/y': { host: 'z' } },
    ask: 'x.example.org PTR',
    reply: ['NOERROR aa rd'],
  },
  {
    name: 'NS: without any, the zone exists all the same',
    keys: { '/org/example/www': { host: '192.0.2.1' } },
    ask: 'example.org NS',
    reply: ['NOERROR aa rd'],
  },
  {
    name: 'the zone exists without any key, for each type',
    keys: {},
    ask: 'example.org A',
    reply: ['NOERROR aa rd'],
  },
  {
    name: 'CNAME: a missing name is denied',
    keys: { '/org/example/x/y': { host: '192.0.2.1' } },
    ask: 'nosuch.example.org CNAME',
    reply: ['NXDOMAIN aa rd'],
  },
]

describe('an answer from keys', () => {
  const byRules = [
    ...CASES.map((one) => ({ ...one, corefile: COREFILE })),
    ...RFC_CASES.map((one) => ({ ...one, corefile: RFC, name: `${one.name}, by the RFCs` })),
  ]
  for (const { name, corefile, keys, ask, reply } of byRules) {
    test(name, async () => {
      const below = Object.entries(keys).map(([key, value]) => [`/skydns${key}`, value])
      const server = serve(corefile, { keys: Object.fromEntries(below), upstream: UPSTREAM })
      const lines = await server.ask(ask)
      const withoutSoa = lines.filter((line) => !line.startsWith('authority: '))
      assert.deepEqual(withoutSoa, reply)
    })
  }

  test('asks for the addresses of so many hosts and no more', async () => {
    const hosts = Array.from({ length: 300 }, (_, i) => `h${i}.example.net`)
    const keys = Object.fromEntries(
      hosts.map((host, i) => [`/skydns/org/example/web/${i}`, { host, port: i }]),
    )
    const upstream = (): string[] => ['NXDOMAIN rd ra']
    const server = serve(COREFILE, { keys, upstream })
    const [head, ...records] = await server.ask('web.example.org SRV +tcp')
    assert.equal(head, 'NOERROR aa rd')
    assert.equal(records.length, 300)
    assert.equal(server.host.asked.length, 256)
  })
})

test('soaRecordAt has the time for its serial', () => {
  assert.equal(
    formatRecord(soaRecordAt(nameOf('example.org'), 1_700_000_000_900)),
    'example.org. 30 IN SOA ns.dns.example.org. hostmaster.example.org. 1700000000 7200 1800 86400 30',
  )
  const root = formatRecord(soaRecordAt(nameOf('.'), 0))
  assert.equal(root, '. 30 IN SOA ns.dns. hostmaster. 0 7200 1800 86400 30')
})
