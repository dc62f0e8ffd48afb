import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { NS, SOA, serveZoneText } from './zones.ts'

const LINES = [
  'ns A 192.0.2.53',
  'www 60 A 192.0.2.1',
  'www 60 A 192.0.2.2',
  '@ MX 10 mail',
  'mail A 192.0.2.3',
  '_sip._tcp SRV 1 2 5060 Mail',
  'a.b.c TXT "deep"',
  '*.wild 77 A 192.0.2.4',
  '*.wild MX 5 mail',
  'own.wild TXT "own"',
  'x.between.wild A 192.0.2.5',
  'a.*.starred A 192.0.2.6',
  'sub NS ns.sub',
  'sub NS ns.example.net.',
  'ns.sub A 192.0.2.7',
]

type Case = { readonly name: string; readonly ask: string; readonly replies: readonly string[] }

function check(lines: readonly string[], cases: readonly Case[]): void {
  const server = serveZoneText(lines)
  for (const { name, ask, replies } of cases) {
    test(name, async () => {
      assert.deepEqual(await server.ask(ask), replies)
    })
  }
}

describe('a zone answers', () => {
  check(LINES, [
    {
      name: 'with all records of a type, and the name servers of the zone',
      ask: 'www.example.org A',
      replies: [
        'NOERROR aa rd',
        'www.example.org. 60 IN A 192.0.2.1',
        'www.example.org. 60 IN A 192.0.2.2',
        NS,
      ],
    },
    {
      name: 'with the SOA record where a name has no records of a type',
      ask: 'www.example.org TXT',
      replies: ['NOERROR aa rd', SOA],
    },
    {
      name: 'with the same for all types at once',
      ask: 'www.example.org ANY',
      replies: ['NOERROR aa rd', SOA],
    },
    {
      name: 'that a name does not exist',
      ask: 'nosuch.example.org A',
      replies: ['NXDOMAIN aa rd', SOA],
    },
    {
      name: 'that a name exists above others',
      ask: 'b.c.example.org A',
      replies: ['NOERROR aa rd', SOA],
    },
    {
      name: 'with its SOA record, and the name servers',
      ask: 'example.org SOA',
      replies: ['NOERROR aa rd', SOA.replace('authority: ', ''), NS],
    },
    {
      name: 'with its name servers, and their addresses',
      ask: 'example.org NS',
      replies: [
        'NOERROR aa rd',
        NS.replace('authority: ', ''),
        'additional: ns.example.org. 3600 IN A 192.0.2.53',
      ],
    },
    {
      name: 'with addresses beside mail servers',
      ask: 'example.org MX',
      replies: [
        'NOERROR aa rd',
        'example.org. 3600 IN MX 10 mail.example.org.',
        NS,
        'additional: mail.example.org. 3600 IN A 192.0.2.3',
      ],
    },
    {
      name: 'with addresses beside SRV records, whose letter case stays',
      ask: '_sip._tcp.example.org SRV',
      replies: [
        'NOERROR aa rd',
        '_sip._tcp.example.org. 3600 IN SRV 1 2 5060 Mail.example.org.',
        NS,
        'additional: Mail.example.org. 3600 IN A 192.0.2.3',
      ],
    },
    {
      name: 'from a wildcard, with the name of the query',
      ask: 'x.y.wild.example.org A',
      replies: ['NOERROR aa rd', 'x.y.wild.example.org. 77 IN A 192.0.2.4', NS],
    },
    {
      name: 'from a wildcard, with addresses that are in the additional section',
      ask: 'x.wild.example.org MX',
      replies: [
        'NOERROR aa rd',
        'x.wild.example.org. 3600 IN MX 5 mail.example.org.',
        NS,
        'additional: mail.example.org. 3600 IN A 192.0.2.3',
      ],
    },
    {
      name: 'from a wildcard that has no records of a type',
      ask: 'x.wild.example.org TXT',
      replies: ['NOERROR aa rd', SOA],
    },
    {
      name: 'from a wildcard that has no records at all',
      ask: 'x.starred.example.org A',
      replies: ['NOERROR aa rd', SOA],
    },
    {
      name: 'with the wildcard itself',
      ask: '*.wild.example.org A',
      replies: ['NOERROR aa rd', '*.wild.example.org. 77 IN A 192.0.2.4', NS],
    },
    {
      name: 'not from a wildcard where a name has other records',
      ask: 'own.wild.example.org A',
      replies: ['NOERROR aa rd', SOA],
    },
    {
      name: 'not from a wildcard below a name that exists',
      ask: 'y.between.wild.example.org A',
      replies: ['NXDOMAIN aa rd', SOA],
    },
    {
      name: 'that other servers have what is below a cut, without authority',
      ask: 'x.y.sub.example.org A',
      replies: [
        'NOERROR rd',
        'authority: sub.example.org. 3600 IN NS ns.sub.example.org.',
        'authority: sub.example.org. 3600 IN NS ns.example.net.',
        'additional: ns.sub.example.org. 3600 IN A 192.0.2.7',
      ],
    },
    {
      name: 'the same at the cut, also for its name servers',
      ask: 'sub.example.org NS',
      replies: [
        'NOERROR rd',
        'authority: sub.example.org. 3600 IN NS ns.sub.example.org.',
        'authority: sub.example.org. 3600 IN NS ns.example.net.',
        'additional: ns.sub.example.org. 3600 IN A 192.0.2.7',
      ],
    },
    {
      name: 'that a cut has no DS records',
      ask: 'sub.example.org DS',
      replies: ['NOERROR aa rd', SOA],
    },
    {
      name: 'no transfer',
      ask: 'example.org AXFR +tcp',
      replies: ['REFUSED rd'],
    },
  ])
})

describe('the apex of a zone', () => {
  check(
    [],
    [
      {
        name: 'exists when it has but SOA and NS records',
        ask: 'example.org A',
        replies: ['NOERROR aa rd', SOA],
      },
    ],
  )
})

describe('a signed zone answers', () => {
  const SIG = '13 2 3600 20300101000000 20200101000000 1 @ AQPS'
  const sig = (owner: string, type: string): string =>
    `${owner} 3600 IN RRSIG ${type} 13 2 3600 20300101000000 20200101000000 1 example.org. AQPS`
  const nsec = (owner: string, next: string, types: string): string[] => [
    `authority: ${owner} 3600 IN NSEC ${next} ${types}`,
    sig(`authority: ${owner}`, 'NSEC'),
  ]
  const apex = [SOA, sig('authority: example.org.', 'SOA')]
  const servers = [NS, sig('authority: example.org.', 'NS')]
  const lines = [
    ...['SOA', 'NS', 'NSEC'].map((type) => `@ RRSIG ${type} ${SIG}`),
    '@ NSEC a.ent NS SOA RRSIG NSEC',
    'a.ent TXT "a"',
    ...['TXT', 'NSEC'].map((type) => `a.ent RRSIG ${type} ${SIG}`),
    'a.ent NSEC sub TXT RRSIG NSEC',
    'sub NS ns.example.net.',
    'sub NSEC *.wild NS RRSIG NSEC',
    `sub RRSIG NSEC ${SIG}`,
    '*.wild A 192.0.2.4',
    ...['A', 'NSEC'].map((type) => `*.wild RRSIG ${type} ${SIG}`),
    '*.wild NSEC @ A RRSIG NSEC',
  ]
  check(lines, [
    {
      name: 'with signatures for a client that wants them',
      ask: 'a.ent.example.org TXT +do',
      replies: [
        'NOERROR aa rd',
        'a.ent.example.org. 3600 IN TXT "a"',
        sig('a.ent.example.org.', 'TXT'),
        ...servers,
        'edns: 1232 do',
      ],
    },
    {
      name: 'without them for a client that does not',
      ask: 'a.ent.example.org TXT',
      replies: ['NOERROR aa rd', 'a.ent.example.org. 3600 IN TXT "a"', NS],
    },
    {
      name: 'with its SOA record, signed',
      ask: 'example.org SOA +do',
      replies: [
        'NOERROR aa rd',
        SOA.replace('authority: ', ''),
        sig('example.org.', 'SOA'),
        ...servers,
        'edns: 1232 do',
      ],
    },
    {
      name: 'with proof that a type is missing',
      ask: 'a.ent.example.org A +do',
      replies: [
        'NOERROR aa rd',
        ...apex,
        ...nsec('a.ent.example.org.', 'sub.example.org.', 'TXT RRSIG NSEC'),
        'edns: 1232 do',
      ],
    },
    {
      name: 'with proof that a name is missing, nor a wildcard',
      ask: 'nosuch.example.org A +do',
      replies: [
        'NXDOMAIN aa rd',
        ...apex,
        ...nsec('a.ent.example.org.', 'sub.example.org.', 'TXT RRSIG NSEC'),
        ...nsec('example.org.', 'a.ent.example.org.', 'NS SOA RRSIG NSEC'),
        'edns: 1232 do',
      ],
    },
    {
      name: 'with proof that a name has nothing but names below it',
      ask: 'ent.example.org A +do',
      replies: [
        'NOERROR aa rd',
        ...apex,
        ...nsec('example.org.', 'a.ent.example.org.', 'NS SOA RRSIG NSEC'),
        'edns: 1232 do',
      ],
    },
    {
      name: 'from a wildcard with proof that the name is missing (RFC 4035 §3.1.3.3)',
      ask: 'x.wild.example.org A +do',
      replies: [
        'NOERROR aa rd',
        'x.wild.example.org. 3600 IN A 192.0.2.4',
        sig('x.wild.example.org.', 'A'),
        ...servers,
        ...nsec('*.wild.example.org.', 'example.org.', 'A RRSIG NSEC'),
        'edns: 1232 do',
      ],
    },
    {
      name: 'from a wildcard without the type with both proofs (RFC 4035 §3.1.3.4)',
      ask: '!.wild.example.org TXT +do',
      replies: [
        'NOERROR aa rd',
        ...apex,
        ...nsec('*.wild.example.org.', 'example.org.', 'A RRSIG NSEC'),
        ...nsec('sub.example.org.', '*.wild.example.org.', 'NS RRSIG NSEC'),
        'edns: 1232 do',
      ],
    },
    {
      name: 'with proof that a cut is not signed',
      ask: 'www.sub.example.org A +do',
      replies: [
        'NOERROR rd',
        'authority: sub.example.org. 3600 IN NS ns.example.net.',
        ...nsec('sub.example.org.', '*.wild.example.org.', 'NS RRSIG NSEC'),
        'edns: 1232 do',
      ],
    },
  ])
})
