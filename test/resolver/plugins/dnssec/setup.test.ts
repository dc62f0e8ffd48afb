import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { RCODE } from '../../../../src/dns/names/rcode.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { parseResponse, type ResourceRecord } from '../../../../src/dns/wire/message.ts'
import { writeQuery } from '../../../../src/dns/wire/write-query.ts'
import { directive, type Server, serve } from '../../../ask.ts'
import { checkSignatures, EXAMPLE_KEYS, newKeyFiles } from '../../../zone-keys.ts'

const DB = [
  '$TTL 60',
  '@ SOA ns host 7 3600 600 86400 300',
  '@ NS ns',
  'ns A 192.0.2.1',
  'www A 192.0.2.2',
  '*.wild A 192.0.2.3',
  'out CNAME www.example.org.',
  'in CNAME www',
  'none CNAME nothing',
  'cut NS ns.cut',
].join('\n')

const FILES = {
  ...EXAMPLE_KEYS,
  ...newKeyFiles('ksk', 'example.net.', { flags: 257 }),
  ...newKeyFiles('zsk', 'example.net.', { flags: 256, algorithm: 8 }),
  db: DB,
}
const SERVICE = `
- {kind: Namespace, metadata: {name: shop}}
- kind: Service
  metadata: {name: web, namespace: shop}
  spec: {clusterIP: 10.96.0.1, ports: [{port: 80}]}
`
const TOGETHER = ' +edns=4096 +do +tcp'

function serveSigned(keys: string, ...more: string[]): Server {
  const lines = [directive('dnssec', `key file ${keys}`), 'file db', ...more]
  return serve(['example.net {', ...lines, '}'].join('\n'), { files: FILES })
}

async function keysOf(server: Server): Promise<ResourceRecord[]> {
  const reply = await server.askBytes(`example.net DNSKEY${TOGETHER}`)
  const { answer = [] } = (reply && parseResponse(reply)) ?? {}
  return answer.filter(({ type }) => type === TYPE.DNSKEY)
}

/** What is signed in the reply to a question, and how. */
async function signed(server: Server, question: string): Promise<string[]> {
  const reply = await server.askBytes(question + TOGETHER)
  assert.ok(reply)
  return checkSignatures(reply, await keysOf(server))
}

describe('dnssec', () => {
  const KEY =
    'example.net. 3600 IN DNSKEY 257 3 13 GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA=='
  const server = serveSigned('p256')

  test('has the keys of a zone, and signatures for a client that wants them', async () => {
    assert.deepEqual(await server.ask('example.net DNSKEY'), ['NOERROR aa rd', KEY])
    assert.deepEqual(await server.ask('example.net DNSKEY +edns'), [
      'NOERROR aa rd',
      KEY,
      'edns: 1232',
    ])
    assert.deepEqual(await signed(server, 'example.net DNSKEY'), [
      'answer example.net. DNSKEY 13 2 3600 example.net.',
    ])
  })

  test('leaves answers alone for a client without DO', async () => {
    assert.deepEqual(await server.ask('www.example.net A +edns'), [
      'NOERROR aa rd',
      'www.example.net. 60 IN A 192.0.2.2',
      'authority: example.net. 60 IN NS ns.example.net.',
      'edns: 1232',
    ])
    assert.match((await server.ask('nope.example.net A')).join(), /^NXDOMAIN aa rd/)
    assert.match(
      (await server.ask('www.example.net DNSKEY')).join(),
      /^NOERROR aa rd,authority: .* SOA/,
    )
  })

  const cases: { asked: string; is: string[] }[] = [
    {
      asked: 'wWw.example.net A',
      is: [
        'answer wWw.example.net. A 13 3 60 example.net.',
        'authority example.net. NS 13 2 60 example.net.',
      ],
    },
    {
      asked: 'a.b.wild.example.net A',
      is: [
        'answer a.b.wild.example.net. A 13 5 60 example.net.',
        'authority example.net. NS 13 2 60 example.net.',
      ],
    },
    {
      asked: 'in.example.net A',
      is: [
        'answer in.example.net. CNAME 13 3 60 example.net.',
        'answer www.example.net. A 13 3 60 example.net.',
        'authority example.net. NS 13 2 60 example.net.',
      ],
    },
    {
      asked: 'nope.example.net A',
      is: [
        'authority example.net. SOA 13 2 60 example.net.',
        'authority nope.example.net. NSEC 13 3 60 example.net.',
      ],
    },
    {
      asked: 'host.cut.example.net A',
      is: ['authority host.cut.example.net. NSEC 13 4 60 example.net.'],
    },
    {
      asked: 'none.example.net A',
      is: [
        'answer none.example.net. CNAME 13 3 60 example.net.',
        'authority nothing.example.net. NSEC 13 3 60 example.net.',
        'authority example.net. SOA 13 2 60 example.net.',
      ],
    },
  ]
  for (const { asked, is } of cases) {
    test(`signs ${asked}`, async () => {
      assert.deepEqual(await signed(server, asked), is)
    })
  }

  test('splits the work where there are keys of both kinds', async () => {
    const both = serveSigned('zsk ksk')
    assert.deepEqual(await signed(both, 'example.net DNSKEY'), [
      'answer example.net. DNSKEY 13 2 3600 example.net.',
    ])
    assert.deepEqual(await signed(both, 'nope.example.net MX'), [
      'authority example.net. SOA 8 2 60 example.net.',
      'authority nope.example.net. NSEC 8 3 60 example.net.',
    ])
  })

  test('signs every response, with valid signatures', async () => {
    const label = fc.constantFrom('www', 'wild', 'cut', 'in', 'none', 'x', '*', 'NS', 'a-b')
    const type = fc.constantFrom('A', 'NS', 'SOA', 'MX', 'DS', 'NSEC', 'RRSIG', 'DNSKEY', 'TXT')
    const names = fc.array(label, { maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(names, type, async (labels, asked) => {
        const name = [...labels, 'example.net'].join('.')
        const found = await signed(server, `${name} ${asked}`)
        assert.ok(found.length > 0, 'something is signed')
        assert.deepEqual(
          found.filter((line) => line.endsWith(' bad')),
          [],
        )
      }),
    )
  })

  test('lets names of other zones go on', async () => {
    const lines = [directive('dnssec example.net', 'key file p256'), 'whoami']
    const other = serve(['. {', ...lines, '}'].join('\n'), { files: FILES })
    assert.deepEqual(await signed(other, 'example.org A'), [])
    assert.match((await other.ask('example.org DNSKEY')).join(), /^NOERROR aa rd/)
  })

  test('leaves failures alone', async () => {
    const failing = serve(['example.net {', directive('dnssec', 'key file p256'), '}'].join('\n'), {
      files: FILES,
    })
    assert.deepEqual(await failing.ask('www.example.net A +edns +do'), [
      'SERVFAIL rd',
      'edns: 1232 do',
    ])
  })

  test('counts signatures that were kept and that were made', async () => {
    const counting = serveSigned('p256')
    for (let i = 0; i < 3; i++) await counting.ask(`www.example.net A${TOGETHER}`)
    const lines = counting.host.metrics.format().split('\n')
    assert.deepEqual(
      lines.filter((line) => line.startsWith('coredns_dnssec_')),
      [
        'coredns_dnssec_cache_entries{server="dns://:53",type="signature"} 2',
        'coredns_dnssec_cache_hits_total{server="dns://:53"} 4',
        'coredns_dnssec_cache_misses_total{server="dns://:53"} 2',
      ],
    )
  })

  test('has no keys for who may not see the zone', async () => {
    const lines = [directive('dnssec example.net', 'key file p256'), 'kubernetes example.net']
    const hiding = serve(['. {', ...lines, '}'].join('\n'), {
      files: FILES,
      cluster: { objects: SERVICE },
    })
    const client = { address: '192.0.2.7', port: 4242, transport: 'udp' } as const
    const view = { id: '', seesName: () => true, namespaces: undefined, mayRecurse: false }
    const message = writeQuery({ name: nameOf('example.net'), type: TYPE.DNSKEY })
    const rcodeFor = async (sees: boolean): Promise<number | undefined> => {
      const reply = await hiding.answer(message, {
        ...client,
        visibility: { ...view, seesOrigin: () => sees },
      })
      return reply && parseResponse(reply)?.rcode
    }
    assert.equal(await rcodeFor(true), RCODE.NOERROR)
    assert.equal(await rcodeFor(false), RCODE.SERVFAIL)
  })

  test('leaves queries without DO on the fast path', async () => {
    const lines = [directive('dnssec', 'key file p256'), 'kubernetes example.net']
    const cluster = serve(['example.net {', ...lines, '}'].join('\n'), {
      files: FILES,
      cluster: { objects: SERVICE },
    })
    assert.equal(await cluster.isQuick('web.shop.svc.example.net A +edns'), true)
    assert.equal(await cluster.isQuick('web.shop.svc.example.net DNSKEY'), false)
    assert.equal(await cluster.isQuick('web.shop.svc.example.net A +edns +do'), false)
    assert.deepEqual(await signed(cluster, 'web.shop.svc.example.net A'), [
      'answer web.shop.svc.example.net. A 13 5 5 example.net.',
    ])
  })
})
