import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { readUint16 } from '../../../../src/dns/bytes/bytes.ts'
import { FLAG } from '../../../../src/dns/wire/query.ts'
import { createResolver } from '../../../../src/resolver/chain/create-resolver.ts'
import type { Resolver } from '../../../../src/resolver/chain/resolver.ts'
import type { Client } from '../../../../src/resolver/contract/client.ts'
import { block, directive, parseBlocks } from '../../../ask.ts'
import type { FakeClusterOptions } from '../../../fake-cluster.ts'
import { FakeHost } from '../../../fake-host.ts'
import { parseQuestion } from '../../../message-text.ts'
import { ResolverClient } from '../../../resolver-client.ts'
import { POD_CASES, SERVICE_CASES } from './name-cases.ts'
import { aliases } from './objects.ts'

const S = 'shop.svc.cluster.local'
const ENDPOINTS = Array.from({ length: 1000 }, (_, i) => {
  const address = `198.18.${i >> 8}.${i & 255}`
  return `{addresses: [${address}], hostname: many-${i}}`
})
const OBJECTS = `${aliases({ out: 'www.example.org' })}
- {kind: Service, metadata: {name: many, namespace: shop}, spec: {clusterIP: None}}
- kind: EndpointSlice
  metadata: {name: many-1, namespace: shop, labels: {kubernetes.io/service-name: many}}
  endpoints: [${ENDPOINTS.join(', ')}]
  ports: [{name: http, port: 80}, {name: grpc, port: 90}]
`
const KUBERNETES = 'kubernetes cluster.local in-addr.arpa ip6.arpa'

type Both = { readonly fast: Uint8Array | undefined; readonly slow: Uint8Array | undefined }

/** Asks by the fast path, where that is possible, and by the slow one. */
class Asker {
  private readonly resolver: Resolver

  constructor(lines: readonly string[], cluster: Partial<FakeClusterOptions> = {}) {
    const host = new FakeHost({
      cluster: { objects: OBJECTS, ...cluster },
      upstream: () => ['NOERROR ra'],
    })
    this.resolver = createResolver(parseBlocks(block(...lines)), { ...host, random16: () => 7 })
  }

  async ask(question: string, transport: Client['transport'] = 'udp'): Promise<Both> {
    const client: Client = { address: '192.0.2.1', port: 1, transport }
    const { message } = parseQuestion(question)
    return new ResolverClient(this.resolver, client).bothWays(message)
  }
}

describe('both ways give the same bytes', () => {
  const chains: readonly (readonly string[])[] = [
    [directive(KUBERNETES, 'pods insecure')],
    ['minimal', 'loadbalance', directive(KUBERNETES, 'pods verified', 'ttl 0')],
    ['errors', 'log', 'bufsize 512', 'cache 30', 'loadbalance', directive(KUBERNETES, 'ttl 3600')],
  ]
  const questions = [...SERVICE_CASES, ...POD_CASES].map(({ ask }) => ask)
  const more = [
    `many.${S} A`,
    `many.${S} A +edns=1232`,
    `many.${S} SRV +edns=4096`,
    `_grpc._tcp.many.${S} SRV`,
    `MANY-999.many.${S} A +edns +do +padding`,
    `dns.${S} A`,
    'dns.cluster.local A',
    'a.hostmaster.cluster.local A',
    'ns.dns.cluster.local AAAA',
    '231.3.18.198.in-addr.arpa PTR',
  ]
  for (const lines of chains) {
    for (const transport of ['udp', 'tcp', 'https'] as const) {
      test(`${lines.join(', ')} over ${transport}`, async () => {
        let fastCount = 0
        const asker = new Asker(lines)
        for (const question of [...questions, ...more]) {
          const { fast, slow } = await asker.ask(question, transport)
          if (fast === undefined) continue
          fastCount++
          assert.deepEqual(fast, slow, question)
        }
        assert.ok(fastCount > questions.length / 2, `${fastCount} of ${questions.length}`)
      })
    }
  }
})

describe('the fast path is not for', () => {
  const web = `web.${S} A`
  const cases: {
    name: string
    ask: string
    lines?: readonly string[]
    cluster?: Partial<FakeClusterOptions>
  }[] = [
    { name: 'names of other zones', ask: 'www.example.org A' },
    { name: 'the apex', ask: 'cluster.local NS' },
    { name: 'aliases', ask: `out.${S} A` },
    { name: 'CNAMEs requested themselves', ask: `out.${S} CNAME` },
    { name: 'transfers', ask: 'cluster.local AXFR' },
    { name: 'a client that requests the NSID', ask: `${web} +edns +nsid` },
    { name: 'other classes', ask: `web.${S} CH A` },
    { name: 'ANY where it has a plugin', ask: `web.${S} ANY`, lines: ['any', KUBERNETES] },
    {
      name: 'unknown names that go on to the next plugin',
      ask: `nosuch.${S} A`,
      lines: [directive(KUBERNETES, 'fallthrough'), 'forward . 192.0.2.53'],
    },
    { name: 'what is not loaded', ask: web, cluster: { presence: 'later' } },
    { name: 'shards that are not loaded', ask: web, cluster: { presence: 'shards-later' } },
    { name: 'what is stale', ask: web, cluster: { freshness: 'stale' } },
    { name: 'what is too old', ask: web, cluster: { freshness: 'expired' } },
    {
      name: 'names that a hosts file has',
      ask: web,
      lines: [directive('hosts', `192.0.2.1 web.${S}`, 'fallthrough'), KUBERNETES],
    },
    {
      name: 'names that a wildcard of a hosts file has',
      ask: web,
      lines: [directive('hosts', `192.0.2.1 *.${S}`, 'fallthrough'), KUBERNETES],
    },
    {
      name: 'names that end at a hosts file without fallthrough',
      ask: web,
      lines: [directive('hosts', '192.0.2.1 a.example.org'), KUBERNETES],
    },
  ]
  for (const { name, ask, lines = [KUBERNETES], cluster } of cases) {
    test(name, async () => {
      const { fast } = await new Asker(lines, cluster).ask(ask)
      assert.equal(fast, undefined)
    })
  }

  test('nothing else of a hosts file', async () => {
    const hosts = directive('hosts', '192.0.2.1 a.example.org', 'fallthrough')
    const { fast, slow } = await new Asker([hosts, KUBERNETES]).ask(web)
    assert.ok(fast)
    assert.deepEqual(fast, slow)
  })
})

test('a thousand endpoints are cut whole where a message ends', async () => {
  const asker = new Asker([KUBERNETES])
  for (const [transport, question, isCut] of [
    ['udp', `many.${S} A`, true],
    ['tcp', `many.${S} A`, false],
    ['https', `many.${S} A`, false],
    ['tcp', `_http._tcp.many.${S} SRV`, true],
  ] as const) {
    const { fast, slow } = await asker.ask(question, transport)
    assert.deepEqual(fast, slow)
    const flags = readUint16(fast ?? new Uint8Array(4), 2)
    assert.equal((flags & FLAG.TC) !== 0, isCut, `${transport} ${question}`)
  }
})
