/**
 * Runs the Corefile of docs/fallback.md through the states that the page lists.
 * @module
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { type Server, serve } from '../ask.ts'
import type { FakeClusterOptions } from '../fake-cluster.ts'
import type { UpstreamAct } from '../fake-host.ts'
import { read } from './pages.ts'

const [, COREFILE = ''] = /```corefile\n([\s\S]*?)```/.exec(read('docs/fallback.md')) ?? []
const GATEWAY = 'https://dns.example.org/dns-query'
const WEB = `
- apiVersion: v1
  kind: Namespace
  metadata: { name: shop }
- apiVersion: v1
  kind: Service
  metadata: { name: web, namespace: shop }
  spec: { clusterIP: 10.0.0.1, ports: [{ port: 80 }] }
`
const AWAY: UpstreamAct = new Error('connection refused')

type World = {
  gateway: UpstreamAct
  readonly cluster: { -readonly [Key in keyof FakeClusterOptions]: FakeClusterOptions[Key] }
}

function start(world: World): Server {
  const files = { '/etc/kubedoh/token': 'secret\n', '/etc/resolv.conf': 'nameserver 192.0.2.53\n' }
  return serve(COREFILE, { files, cluster: world.cluster, upstream: () => world.gateway })
}

/** Returns the response's lines without its EDNS line, and how often the gateway was queried. */
async function ask(server: Server, question: string): Promise<readonly string[]> {
  const { asked } = server.host
  const before = asked.length
  const lines = await server.ask(`${question} +edns`)
  for (const { upstream } of asked) assert.equal(upstream, GATEWAY)
  return [
    ...lines.filter((line) => !line.startsWith('edns: ')),
    `gateway: ${asked.length - before}`,
  ]
}

const OWN = 'web.shop.svc.cluster.local. A'
const OTHER = 'api.shop.svc.cluster.local. A'
const OWN_ANSWER = 'web.shop.svc.cluster.local. 5 IN A 10.0.0.1'
const OTHER_ANSWER = 'api.shop.svc.cluster.local. 30 IN A 10.0.0.2'

describe('docs/fallback.md', () => {
  test('the cluster is read: an unknown name is NXDOMAIN without the gateway', async () => {
    const server = start({ gateway: AWAY, cluster: { objects: WEB } })
    assert.deepEqual(await ask(server, OWN), ['NOERROR aa rd', OWN_ANSWER, 'gateway: 0'])
    const [status, , gateway] = await ask(server, OTHER)
    assert.deepEqual([status, gateway], ['NXDOMAIN aa rd', 'gateway: 0'])
  })

  test('the API server is lost while running: the snapshot answers with EDE 3', async () => {
    const server = start({ gateway: AWAY, cluster: { objects: WEB, freshness: 'stale' } })
    const lines = await ask(server, OWN)
    assert.ok(lines.includes(OWN_ANSWER))
    assert.ok(
      lines.some((line) => line.includes('ede: 3')),
      lines.join(),
    )
    assert.ok(lines.includes('gateway: 0'))
  })

  test('the API server comes back: an expired answer of the gateway no longer counts', async () => {
    const cluster: World['cluster'] = { objects: WEB, freshness: 'partial' }
    const server = start({ gateway: ['NOERROR aa', OTHER_ANSWER], cluster })
    await ask(server, OTHER)
    await server.host.advance(31_000)
    for (const freshness of ['fresh', 'stale'] as const) {
      cluster.freshness = freshness
      const lines = await ask(server, OTHER)
      assert.deepEqual([lines[0], lines.at(-1)], ['NXDOMAIN aa rd', 'gateway: 0'], freshness)
    }
  })

  for (const [state, cluster] of [
    ['was read in part', { objects: WEB, freshness: 'partial' }],
    ['was never read', { objects: WEB, presence: 'never' }],
  ] as const) {
    test(`the API server ${state}: the gateway, then the cache, then SERVFAIL`, async () => {
      const world: World = { gateway: ['NOERROR aa', OTHER_ANSWER], cluster: { ...cluster } }
      const server = start(world)
      assert.deepEqual(server.resolver.notReady(), [])
      assert.deepEqual(server.host.upstreams[0]?.upstream.token, 'secret')
      assert.deepEqual(await ask(server, OTHER), ['NOERROR aa rd', OTHER_ANSWER, 'gateway: 1'])
      world.gateway = AWAY
      await server.host.advance(31_000)
      const stale = await ask(server, OTHER)
      assert.ok(stale.includes(OTHER_ANSWER), stale.join())
      assert.ok(
        stale.some((line) => line.includes('ede: 3')),
        stale.join(),
      )
      const unknown = await ask(server, 'db.shop.svc.cluster.local. A')
      assert.equal(unknown[0], 'SERVFAIL rd')
      assert.ok(
        unknown.some((line) => line.includes('ede: 22')),
        unknown.join(),
      )
    })
  }
})
