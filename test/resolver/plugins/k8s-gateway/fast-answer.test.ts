import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { createResolver } from '../../../../src/resolver/chain/create-resolver.ts'
import { block, directive, parseBlocks } from '../../../ask.ts'
import { FakeHost } from '../../../fake-host.ts'
import { parseQuestion } from '../../../message-text.ts'
import { ResolverClient } from '../../../resolver-client.ts'
import { HOSTS } from './objects.ts'

const SHARED = `${HOSTS}
- kind: Ingress
  metadata: {name: web-2, namespace: shop}
  spec: {ingressClassName: nginx, rules: [{host: app.gw.test}]}
  status: {loadBalancer: {ingress: [{ip: 203.0.113.1}, {ip: 203.0.113.9}]}}
`
/** Questions that take the fast path. */
const FAST = [
  'app.gw.test A',
  'app.gw.test AAAA',
  'APP.gw.test A +edns=1232',
  'app.gw.test A +edns +do +padding',
  'api.shop.gw.test A',
  'api.shop.b.test A',
]
const SLOW = [
  'gw.test A',
  'gw.test NS',
  'gw.test SOA',
  'app.gw.test TXT',
  'app.gw.test HTTPS',
  'api.shop.gw.test AAAA',
  'x.wild.gw.test A',
  'none.gw.test A',
  'cdn.shop.gw.test A',
  'dns1.kube-system.gw.test A',
  'a.dns1.kube-system.gw.test A',
  'app.other.test A',
]

describe('the fast path gives the bytes of the slow path', () => {
  const chains: readonly (readonly string[])[] = [
    [directive('k8s_gateway gw.test b.test')],
    ['minimal', 'loadbalance', directive('k8s_gateway gw.test b.test', 'ttl 7')],
    ['errors', 'bufsize 512', 'cache 30', directive('k8s_gateway gw.test b.test')],
    ['kubernetes cluster.local', directive('k8s_gateway gw.test b.test', 'fallthrough')],
  ]
  for (const lines of chains) {
    for (const transport of ['udp', 'https'] as const) {
      test(`${lines.join(', ')} over ${transport}`, async () => {
        const host = new FakeHost({
          cluster: { objects: SHARED },
          upstream: () => ['NOERROR ra'],
        })
        const resolver = createResolver(parseBlocks(block(...lines)), {
          ...host,
          random16: () => 7,
        })
        const client = new ResolverClient(resolver, { address: '192.0.2.1', port: 1, transport })
        const isLast = !lines.some((line) => line.startsWith('kubernetes'))
        for (const question of [...FAST, ...SLOW]) {
          const { fast, slow } = await client.bothWays(parseQuestion(question).message)
          assert.equal(fast !== undefined, isLast && FAST.includes(question), question)
          if (fast !== undefined) assert.deepEqual(fast, slow, question)
        }
      })
    }
  }
})
