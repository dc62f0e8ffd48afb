import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { block, directive, type Server, serve } from '../../../ask.ts'
import type { FakeClusterOptions } from '../../../fake-cluster.ts'
import { aliases } from './objects.ts'

const TYPES = 'A AAAA CNAME SRV TXT PTR MX NS SOA ANY HTTPS TYPE65280'.split(' ')

/** Names that exist, from which others are made. */
const FORWARD = [
  '_http._tcp.web.shop.svc',
  '198-51-100-1.web.shop.svc',
  'dual.shop.svc',
  '_sql._tcp.db.shop.svc',
  'db-0.db.shop.svc',
  '198-51-100-12.db.shop.svc',
  'idle.shop.svc',
  'away.shop.svc',
  'near.shop.svc',
  'circle.shop.svc',
  '198-51-100-1.shop.pod',
  '2001-db8--1.shop.pod',
  'empty.pod',
  'empty.svc',
  'ns.dns',
  'dns-version',
]
const REVERSE = [
  '10.2.0.192.in-addr.arpa',
  '1.100.51.198.in-addr.arpa',
  '9.100.51.198.in-addr.arpa',
  '1.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa',
]
const PREFIXES = ['x', '_tcp', 'tcp', '_http', 'http', 'db-0', '1-2-3-4', 'svc', 'pod', '0', '10']

const ZONES = 'cluster.local in-addr.arpa ip6.arpa'
const OBJECTS = aliases({
  away: 'www.example.org',
  near: 'web.shop.svc.cluster.local',
  circle: 'circle.shop.svc.cluster.local',
})

function serveRfc(pods: string, cluster: Partial<FakeClusterOptions> = {}): Server {
  const line = directive(`kubernetes ${ZONES}`, 'answers rfc', `pods ${pods}`)
  return serve(block(line), {
    cluster: { objects: OBJECTS, localAddresses: ['203.0.113.53'], ...cluster },
  })
}

/** Any of some names, with labels taken off or put before it, and with or without underscores. */
function nameNear(names: readonly string[], zone: string): fc.Arbitrary<string> {
  return fc
    .record({
      base: fc.constantFrom(...names),
      dropped: fc.nat(3),
      prefixes: fc.array(fc.constantFrom(...PREFIXES), { maxLength: 3 }),
      isBare: fc.boolean(),
    })
    .map(({ base, dropped, prefixes, isBare }) => {
      const labels = [...prefixes, ...base.split('.').slice(dropped)]
      const spelled = isBare ? labels.map((label) => label.replace('_', '')) : labels
      return zone === '' ? spelled.join('.') : [...spelled, zone].join('.')
    })
}

const anyName = fc.oneof(
  { weight: 3, arbitrary: nameNear(FORWARD, 'cluster.local') },
  { weight: 1, arbitrary: nameNear(REVERSE, '') },
)

async function rcodes(server: Server, name: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const type of TYPES) {
    const [head = ''] = await server.ask(`${name} ${type} +tcp`)
    found.set(type, head.split(' ')[0] ?? '')
  }
  return found
}

/** The name and those above it, down to its zone. */
function upToZone(name: string): string[] {
  const labels = name.split('.')
  const names = labels.map((_, i) => labels.slice(i).join('.'))
  return names.filter((one) => ZONES.split(' ').some((zone) => `.${one}`.endsWith(`.${zone}`)))
}

for (const pods of ['disabled', 'insecure', 'verified']) {
  describe(`answers rfc, pods ${pods}`, () => {
    test('has one response code for all types of a name (RFC 8020 §2)', async () => {
      const server = serveRfc(pods)
      await fc.assert(
        fc.asyncProperty(anyName, async (name) => {
          const found = await rcodes(server, name)
          assert.equal(new Set(found.values()).size, 1, JSON.stringify([...found]))
        }),
        { numRuns: 150 },
      )
    })

    test('has every name above a name that exists', async () => {
      const server = serveRfc(pods)
      await fc.assert(
        fc.asyncProperty(anyName, async (name) => {
          const [head = ''] = await server.ask(`${name} A +tcp`)
          if (!head.startsWith('NOERROR')) return
          for (const above of upToZone(name)) {
            const found = await rcodes(server, above)
            assert.deepEqual([...new Set(found.values())], ['NOERROR'], above)
          }
        }),
        { numRuns: 150 },
      )
    })
  })
}

describe('answers rfc while shards are loaded', () => {
  const exists = FORWARD.filter((name) => !name.startsWith('idle.')).map(
    (name) => `${name}.cluster.local`,
  )
  const pointed = REVERSE.filter((name) => !name.startsWith('9.'))
  for (const name of [...exists, ...pointed]) {
    test(`denies nothing above ${name}`, async () => {
      for (const above of upToZone(name)) {
        const server = serveRfc('insecure', { shardCount: 16, presence: 'shards-later' })
        const [head] = await server.ask(`${above} TYPE65280`)
        assert.equal(head, 'NOERROR aa rd', above)
      }
    })
  }
})
