import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  readDatagram,
  relayed,
  upstreamQuery,
} from '../../../src/resolver/plugins/forward/upstream-query.ts'
import { formatRecord } from '../../../src/snapshot/records/zone-text.ts'
import { writeReplyText } from '../../message-text.ts'
import { requestOf } from '../../resolver/chain/serve-with.ts'

type Case = {
  readonly name: string
  /** `www.a.org A` when left out. */
  readonly ask?: string
  readonly kept: readonly string[]
  /** What comes behind these, and is dropped. */
  readonly dropped?: readonly string[]
}

const A = 'www.a.org. 60 IN A 192.0.2.1'
const FORGED = 'victim.example. 60 IN A 192.0.2.66'
const SIGNED = '8 2 60 20300101000000 20200101000000 1 a.org. AAAA'
const MANY = Array.from({ length: 100 }, (_, i) => `n${i}.a.org. 60 IN CNAME n${i + 1}.a.org.`)

const cases: readonly Case[] = [
  { name: 'drops an address of another name from the answer', kept: [A], dropped: [FORGED] },
  {
    name: 'drops an address of a name above from the answer',
    kept: [],
    dropped: ['a.org. 60 IN A 192.0.2.1'],
  },
  { name: 'drops an address of a name below from the answer', kept: [], dropped: [`x.${A}`] },
  {
    name: 'keeps what the name is a CNAME of, in any order',
    kept: [
      'c.example. 60 IN A 192.0.2.1',
      'b.org. 60 IN CNAME c.example.',
      'www.a.org. 60 IN CNAME b.org.',
    ],
    dropped: [FORGED],
  },
  {
    name: 'drops what CNAMEs of another name point to',
    kept: [A],
    dropped: ['b.org. 60 IN CNAME victim.example.', FORGED],
  },
  {
    name: 'keeps what a DNAME record above points to',
    kept: [
      'a.org. 60 IN DNAME b.org.',
      'www.a.org. 60 IN CNAME www.b.org.',
      'www.b.org. 60 IN A 192.0.2.1',
    ],
    dropped: ['x.b.org. 60 IN A 192.0.2.1', 'victim.example. 60 IN DNAME b.org.'],
  },
  {
    name: 'keeps what a DNAME record points to, without the CNAME it makes',
    kept: ['a.org. 60 IN DNAME b.org.', 'www.b.org. 60 IN A 192.0.2.1'],
    dropped: ['b.org. 60 IN A 192.0.2.1'],
  },
  {
    name: 'follows at most 63 CNAMEs of one name',
    kept: [
      ...Array.from({ length: 100 }, (_, i) => `www.a.org. 60 IN CNAME t${i}.example.`),
      't62.example. 60 IN A 192.0.2.1',
    ],
    dropped: ['t63.example. 60 IN A 192.0.2.1'],
  },
  {
    name: 'drops all but the first 64 CNAMEs',
    ask: 'n0.a.org A',
    kept: MANY.slice(0, 64),
    dropped: MANY.slice(64),
  },
  {
    name: 'keeps signatures but those of what is dropped',
    kept: [A, `www.a.org. 60 IN RRSIG A ${SIGNED}`],
    dropped: [FORGED, `victim.example. 60 IN RRSIG A ${SIGNED}`],
  },
  {
    name: 'keeps signatures that were requested',
    ask: 'www.a.org RRSIG',
    kept: [`www.a.org. 60 IN RRSIG A ${SIGNED}`],
    dropped: [FORGED],
  },
  {
    name: 'keeps zones above in the authority, with servers and their addresses',
    kept: [
      A,
      'authority: a.org. 60 IN NS ns.other.example.',
      'authority: org. 60 IN NS ns.org.',
      'authority: . 60 IN NS a.root.',
      'additional: ns.other.example. 60 IN A 192.0.2.53',
      'additional: ns.org. 60 IN AAAA 2001:db8::1',
    ],
    dropped: ['additional: ns.victim.example. 60 IN A 192.0.2.66'],
  },
  {
    name: 'drops other zones from the authority, with the addresses of their servers',
    kept: [A],
    dropped: [
      'authority: example. 60 IN NS ns.victim.example.',
      'authority: x.www.a.org. 60 IN NS ns.victim.example.',
      'additional: ns.victim.example. 60 IN A 192.0.2.66',
    ],
  },
  {
    name: 'keeps the start of authority above what the name is a CNAME of',
    kept: [
      'www.a.org. 60 IN CNAME www.b.org.',
      'authority: b.org. 60 IN SOA ns.b.org. h.b.org. 1 2 3 4 5',
    ],
    dropped: ['authority: c.org. 60 IN SOA ns.c.org. h.c.org. 1 2 3 4 5'],
  },
  {
    name: 'keeps proof that there is no such name',
    kept: [
      'authority: a.org. 60 IN SOA ns.a.org. h.a.org. 1 2 3 4 5',
      'authority: v.a.org. 60 IN NSEC x.a.org. A RRSIG NSEC',
      `authority: v.a.org. 60 IN RRSIG NSEC ${SIGNED}`,
    ],
    dropped: [`authority: v.a.org. 60 IN RRSIG A ${SIGNED}`],
  },
  {
    name: 'keeps what services and their other names point to',
    ask: '_x._tcp.a.org SRV',
    kept: [
      '_x._tcp.a.org. 60 IN SRV 0 0 80 b.org.',
      'additional: c.org. 60 IN A 192.0.2.1',
      'additional: b.org. 60 IN CNAME c.org.',
    ],
    dropped: [`additional: ${FORGED}`],
  },
  {
    name: 'keeps addresses of the name in the additional section',
    ask: 'www.a.org HTTPS',
    kept: ['www.a.org. 60 IN HTTPS 1 .', `additional: ${A}`],
    dropped: [`additional: ${FORGED}`],
  },
]

describe('records of a response that is relayed', () => {
  for (const { name, ask = 'www.a.org A', kept, dropped = [] } of cases) {
    test(name, async () => {
      const request = await requestOf(ask)
      const query = upstreamQuery(request, 7, 'dns')
      const response = readDatagram(
        writeReplyText(['NOERROR', ...kept, ...dropped], query),
        request,
      )
      assert.ok(response?.kind === 'reply')
      const { answer, authority, additional } = relayed(response, request)
      const found = [
        ...answer.map(formatRecord),
        ...authority.map((record) => `authority: ${formatRecord(record)}`),
        ...additional.map((record) => `additional: ${formatRecord(record)}`),
      ]
      assert.deepEqual(found, kept)
    })
  }
})
