import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { NS, SOA, serveZoneText } from './zones.ts'

const LINES = [
  'moved 60 DNAME target',
  'moved TXT "own"',
  'host.target A 192.0.2.1',
  'loop DNAME loop',
  `long DNAME ${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}`,
]
const DNAME = 'moved.example.org. 60 IN DNAME target.example.org.'

describe('a redirection', () => {
  const cases: { name: string; ask: string; replies: string[] }[] = [
    {
      name: 'makes CNAMEs of the names below it',
      ask: 'host.moved.example.org A',
      replies: [
        'NOERROR aa rd',
        DNAME,
        'host.moved.example.org. 60 IN CNAME host.target.example.org.',
        'host.target.example.org. 3600 IN A 192.0.2.1',
        NS,
      ],
    },
    {
      name: 'makes a CNAME of a name when that is what is requested',
      ask: 'x.y.moved.example.org CNAME',
      replies: [
        'NOERROR aa rd',
        DNAME,
        'x.y.moved.example.org. 60 IN CNAME x.y.target.example.org.',
        NS,
      ],
    },
    {
      name: 'points to names that do not exist',
      ask: 'nosuch.moved.example.org A',
      replies: [
        'NXDOMAIN aa rd',
        DNAME,
        'nosuch.moved.example.org. 60 IN CNAME nosuch.target.example.org.',
        SOA,
      ],
    },
    {
      name: 'leaves its own name alone',
      ask: 'moved.example.org TXT',
      replies: ['NOERROR aa rd', 'moved.example.org. 3600 IN TXT "own"', NS],
    },
    {
      name: 'is returned when it is requested',
      ask: 'moved.example.org DNAME',
      replies: ['NOERROR aa rd', DNAME, NS],
    },
    {
      name: 'to itself fails',
      ask: 'x.loop.example.org A',
      replies: ['SERVFAIL rd'],
    },
    {
      name: 'that makes a name too long says so (RFC 6672 §2.2)',
      ask: `${'x'.repeat(63)}.long.example.org A`,
      replies: [
        'YXDOMAIN aa rd',
        `long.example.org. 3600 IN DNAME ${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.example.org.`,
      ],
    },
  ]
  const server = serveZoneText(LINES)
  for (const { name, ask, replies } of cases) {
    test(name, async () => {
      assert.deepEqual(await server.ask(ask), replies)
    })
  }

  test('comes with its signature, its CNAME without', async () => {
    const signed = serveZoneText([
      ...LINES,
      'moved 60 RRSIG DNAME 13 3 60 20300101000000 20200101000000 1 @ AQPS',
    ])
    assert.deepEqual((await signed.ask('host.moved.example.org A +do')).slice(1, 4), [
      DNAME,
      'moved.example.org. 60 IN RRSIG DNAME 13 3 60 20300101000000 20200101000000 1 example.org. AQPS',
      'host.moved.example.org. 60 IN CNAME host.target.example.org.',
    ])
  })
})
