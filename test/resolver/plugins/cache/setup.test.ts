import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { block, serve } from '../../../ask.ts'
import { A, SOA } from './kept-cases.ts'
import { half, LABELS, serveCache, ttls } from './serve-cache.ts'

describe('what is kept', () => {
  test('is nothing that comes from a snapshot, whose TTLs are bounded all the same', async () => {
    const objects = `
- {kind: Namespace, metadata: {name: shop}}
- {kind: Service, metadata: {name: web, namespace: shop}, spec: {clusterIP: 192.0.2.10}}
- {kind: Service, metadata: {name: away, namespace: shop},
   spec: {type: ExternalName, externalName: www.example.org}}
`
    const server = serve(block('cache 3', 'kubernetes cluster.local', 'forward . 192.0.2.53'), {
      cluster: { objects },
      upstream: () => ['NOERROR', A],
    })
    for (const name of ['web', 'away', 'nosuch']) {
      const first = await server.ask(`${name}.shop.svc.cluster.local A`)
      assert.ok(ttls(first).every((ttl) => ttl === 3))
      assert.deepEqual(await server.ask(`${name}.shop.svc.cluster.local A`), first)
    }
    const lines = server.host.metrics.format().split('\n')
    assert.ok(lines.includes(`coredns_cache_requests_total{${LABELS}} 8`))
    // What an alias leads to is asked for on its own, and kept: that is the only hit.
    assert.ok(lines.includes(`coredns_cache_hits_total{${half('success')}} 1`))
    assert.ok(lines.includes(`coredns_cache_entries{${half('success')}} 1`))
    assert.ok(lines.includes(`coredns_cache_entries{${half('denial')}} 0`))
  })
})

describe('which cache it is', () => {
  test('is identified by its zones and its view', async () => {
    const server = serve(
      'example.org a.example.net {\n  cache 30 a.example.net b.example.net\n  whoami\n}',
    )
    await server.ask('a.example.net A')
    const zones = 'a.example.net.,b.example.net.'
    const wanted = `coredns_cache_requests_total{server="dns://:53",zones="${zones}",view=""} 1\n`
    assert.ok(server.host.metrics.format().includes(wanted))
  })
})

describe('metrics of the cache', () => {
  test('have the names that CoreDNS gives them', async () => {
    const server = serveCache('cache', ['NOERROR', A])
    await server.ask('www.example.org A')
    await server.ask('www.example.org A')
    const lines = server.host.metrics.format().split('\n')
    const wanted = [
      `coredns_cache_entries{${half('success')}} 1`,
      `coredns_cache_entries{${half('denial')}} 0`,
      `coredns_cache_evictions_total{${half('success')}} 0`,
      `coredns_cache_evictions_total{${half('denial')}} 0`,
      `coredns_cache_hits_total{${half('success')}} 1`,
      `coredns_cache_hits_total{${half('denial')}} 0`,
      `coredns_cache_misses_total{${LABELS}} 1`,
      `coredns_cache_prefetch_total{${LABELS}} 0`,
      `coredns_cache_requests_total{${LABELS}} 2`,
      `coredns_cache_served_stale_total{${LABELS}} 0`,
    ]
    assert.deepEqual(
      lines.filter((line) => line.startsWith('coredns_cache_')),
      wanted,
    )
  })

  test('report hits of negative responses', async () => {
    const server = serveCache('cache', ['NXDOMAIN', `authority: ${SOA}`])
    await server.ask('www.example.org A')
    await server.ask('www.example.org A')
    const text = server.host.metrics.format()
    assert.ok(text.includes(`coredns_cache_hits_total{${half('denial')}} 1\n`))
    assert.ok(text.includes(`coredns_cache_entries{${half('denial')}} 1\n`))
  })
})
