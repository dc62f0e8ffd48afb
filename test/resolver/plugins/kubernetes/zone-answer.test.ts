import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, directive, serve } from '../../../ask.ts'
import type { FakeClusterOptions } from '../../../fake-cluster.ts'
import { type NameCase, POD_CASES, SERVICE_CASES } from './name-cases.ts'
import { SHOP } from './objects.ts'

const CLUSTER = { objects: SHOP, localAddresses: ['203.0.113.53', '2001:db8::53'] }

/** A snapshot of one shard, and one of many that are loaded one by one. */
const SNAPSHOTS: readonly { readonly name: string; readonly cluster: FakeClusterOptions }[] = [
  { name: 'a snapshot in one piece', cluster: CLUSTER },
  {
    name: 'a snapshot in shards',
    cluster: { ...CLUSTER, shardCount: 16, presence: 'shards-later' },
  },
]

async function ask(
  one: NameCase,
  cluster: FakeClusterOptions,
  question: string,
): Promise<string[]> {
  const line = directive('kubernetes cluster.local', ...(one.options ?? []))
  return serve(block(line), { cluster }).ask(question)
}

for (const { name: snapshot, cluster } of SNAPSHOTS) {
  describe(`in ${snapshot}`, () => {
    for (const one of [...SERVICE_CASES, ...POD_CASES]) {
      test(one.name, async () => {
        assert.deepEqual(await ask(one, cluster, one.ask), one.reply)
      })
    }
  })
}

describe('letter case', () => {
  for (const one of [...SERVICE_CASES, ...POD_CASES]) {
    test(`does not matter: ${one.name}`, async () => {
      const [name = '', type = ''] = one.ask.split(' ')
      // The zone stays as it is: CoreDNS has no NS records for one in capitals.
      const relative = name.replace(/\.?cluster\.local$/, '')
      const capitals = `${relative.toUpperCase()}${name.slice(relative.length)}`
      const reply = await ask(one, CLUSTER, `${capitals} ${type}`)
      const lower = (lines: readonly string[]): string[] => lines.map((line) => line.toLowerCase())
      assert.deepEqual(lower(reply), lower(one.reply))
      const owner = reply[1] ?? ''
      if (!owner.includes(': ')) assert.ok(owner.startsWith(`${capitals}.`), owner)
    })
  }
})

describe('name servers', () => {
  const DNS = `${SHOP}
- {kind: Namespace, metadata: {name: kube-system}}
- {kind: Service, metadata: {name: kube-dns, namespace: kube-system},
   spec: {clusterIP: 192.0.2.53}}
- kind: EndpointSlice
  metadata: {name: dns-1, namespace: kube-system, labels: {kubernetes.io/service-name: kube-dns}}
  endpoints: [{addresses: [203.0.113.53]}]
`
  const NS = [
    'NOERROR aa rd',
    'cluster.local. 5 IN NS kube-dns.kube-system.svc.cluster.local.',
    'additional: kube-dns.kube-system.svc.cluster.local. 5 IN A 192.0.2.53',
  ]
  const serveDns = (...options: readonly string[]) =>
    serve(block(directive('kubernetes cluster.local', ...options)), {
      cluster: { objects: DNS, localAddresses: ['203.0.113.53'] },
    })

  test('are the Services that point to this server', async () => {
    assert.deepEqual(await serveDns().ask('cluster.local NS'), NS)
  })

  test('come with their addresses from a namespace that is not served, which do not exist', async () => {
    const server = serveDns('namespaces shop')
    assert.deepEqual(await server.ask('cluster.local NS'), NS)
    const [head] = await server.ask('kube-dns.kube-system.svc.cluster.local A')
    assert.equal(head, 'NXDOMAIN aa rd')
  })

  test('come with their addresses, which are loaded for it', async () => {
    const server = serve(block('kubernetes cluster.local'), {
      cluster: {
        objects: DNS,
        localAddresses: ['203.0.113.53'],
        shardCount: 64,
        presence: 'shards-later',
      },
    })
    assert.deepEqual(await server.ask('cluster.local NS'), NS)
    assert.equal(server.host.loads.length, 2)
  })

  test('are ns.dns, with all addresses of this server, without such a Service', async () => {
    assert.deepEqual(
      await serve(block('kubernetes cluster.local'), { cluster: CLUSTER }).ask('cluster.local NS'),
      [
        'NOERROR aa rd',
        'cluster.local. 5 IN NS ns.dns.cluster.local.',
        'additional: ns.dns.cluster.local. 5 IN A 203.0.113.53',
        'additional: ns.dns.cluster.local. 5 IN AAAA 2001:db8::53',
      ],
    )
  })

  for (const rules of ['coredns', 'rfc']) {
    test(`are none where the server has no address, but ns.dns exists, by answers ${rules}`, async () => {
      const corefile = block(directive('kubernetes cluster.local', `answers ${rules}`))
      const server = serve(corefile, { cluster: { objects: SHOP } })
      for (const question of [
        'cluster.local NS',
        'ns.dns.cluster.local A',
        'NS.dns.cluster.local AAAA',
      ]) {
        const [head, ...records] = await server.ask(question)
        assert.equal(head, 'NOERROR aa rd', question)
        assert.match(records.join(), /^authority: cluster\.local\. 5 IN SOA [^,]*$/, question)
      }
      const [below] = await server.ask('x.ns.dns.cluster.local A')
      assert.equal(below, 'NXDOMAIN aa rd')
    })
  }
})
