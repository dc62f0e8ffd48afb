/**
 * Names of a cluster never wait for a TTL: what changes there is answered at once, whatever block
 * of the Corefile has a `cache`, and by whatever way a question comes to the cluster. CoreDNS holds
 * a denial for up to the TTL of its cache: a new peer of a StatefulSet is not found for so long.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createResolver } from '../../../src/resolver/chain/create-resolver.ts'
import type { SnapshotSource } from '../../../src/resolver/contract/host.ts'
import type { Snapshot } from '../../../src/snapshot/read/snapshot.ts'
import { block, directive, parseBlocks, Server } from '../../ask.ts'
import { buildFakeSnapshot } from '../../fake-cluster.ts'
import { FakeHost } from '../../fake-host.ts'

const SERVICE = `
- {kind: Namespace, metadata: {name: shop}}
- {kind: Service, metadata: {name: db, namespace: shop}, spec: {clusterIP: None}}
`
/** The peers of a StatefulSet, by the last bytes of their addresses. */
const peers = (...ends: readonly number[]): string => `${SERVICE}
- kind: EndpointSlice
  metadata: {name: db-1, namespace: shop, labels: {kubernetes.io/service-name: db}}
  addressType: IPv4
  endpoints:
${ends.map((end) => `  - {addresses: [10.0.0.${end}], hostname: db-${end}}`).join('\n')}
`
const PEER = 'db-2.db.shop.svc.cluster.local'
const ZONE = `@ 300 IN SOA ns.example.org. host.example.org. 1 7200 1800 86400 300
@ 300 IN NS ns
ns 300 IN A 192.0.2.53
peer 300 IN CNAME ${PEER}.
`

/** A server whose cluster changes: `change` puts other objects in the place of all. */
function serveChanging(corefile: string): { server: Server; change: (objects: string) => void } {
  let objects = peers(1)
  const opened: (() => void)[] = []
  const host = Object.assign(new FakeHost({ files: { 'db.example.org': ZONE } }), {
    openCluster: (directive: Parameters<FakeHost['openCluster']>[0]): SnapshotSource => {
      let current: Snapshot = buildFakeSnapshot({ objects }, directive)
      opened.push(() => {
        current = buildFakeSnapshot({ objects }, directive)
      })
      return {
        current: () => current,
        load: () => Promise.resolve(current),
        freshness: () => 'fresh',
      }
    },
  })
  const server = new Server(createResolver(parseBlocks(corefile), host), host)
  const change = (now: string): void => {
    objects = now
    for (const renew of opened) renew()
  }
  return { server, change }
}

const KUBERNETES = directive('kubernetes cluster.local', 'ttl 30')
/** The kinds of blocks, and what to ask of them for the peer. */
const WAYS: readonly { readonly name: string; readonly corefile: string; readonly ask: string }[] =
  [
    { name: 'itself', corefile: block('cache 30', KUBERNETES), ask: PEER },
    {
      name: 'itself, where stale answers are served',
      corefile: block(directive('cache 30', 'serve_stale'), KUBERNETES),
      ask: PEER,
    },
    {
      name: 'a CNAME of a zone file',
      corefile: `
cluster.local {
  cache 30
  ${KUBERNETES}
}
example.org {
  cache 30
  file db.example.org
}`,
      ask: 'peer.example.org',
    },
    {
      name: 'a name that is rewritten',
      corefile: block('cache 30', `rewrite name peer.example.org ${PEER}`, KUBERNETES),
      ask: 'peer.example.org',
    },
    {
      name: 'a CNAME that a rule makes',
      corefile: block('cache 30', `rewrite cname exact ${PEER} ${PEER}`, KUBERNETES),
      ask: PEER,
    },
    {
      name: 'a template',
      corefile: block(
        'cache 30',
        directive(
          'template IN A example.org',
          `answer "{{ .Name }} 30 IN CNAME ${PEER}."`,
          'fallthrough',
        ),
        KUBERNETES,
      ),
      ask: 'peer.example.org',
    },
  ]

describe('a peer that is new is found at once', () => {
  for (const { name, corefile, ask } of WAYS) {
    test(`by ${name}`, async () => {
      const { server, change } = serveChanging(corefile)
      // Twice: what is denied once may be kept, what is denied again may come from there.
      for (let i = 0; i < 2; i++) {
        const before = await server.ask(`${ask} A`)
        assert.ok(!before.join('\n').includes(' A '), before.join('\n'))
      }
      change(peers(1, 2))
      const found = await server.ask(`${ask} A`)
      assert.match(found.join('\n'), / IN A 10\.0\.0\.2$/m)
    })

    test(`by ${name}, and is gone at once`, async () => {
      const { server, change } = serveChanging(corefile)
      change(peers(1, 2))
      for (let i = 0; i < 2; i++) {
        assert.match((await server.ask(`${ask} A`)).join('\n'), / IN A 10\.0\.0\.2$/m)
      }
      change(peers(1))
      const after = await server.ask(`${ask} A`)
      assert.ok(!after.join('\n').includes('10.0.0.2'), after.join('\n'))
    })
  }
})
