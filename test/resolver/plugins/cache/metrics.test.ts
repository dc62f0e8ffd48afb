import assert from 'node:assert/strict'
import { test } from 'vitest'
import { Metrics } from '../../../../src/dns/telemetry/metrics.ts'
import { cacheMetrics } from '../../../../src/resolver/plugins/cache/metrics.ts'

test('caches count apart by server, zones and view', () => {
  const metrics = new Metrics()
  const server = 'dns://:53'
  const first = cacheMetrics(metrics, { server, zones: '.', view: '' })
  const second = cacheMetrics(metrics, { server, zones: '.', view: 'inside' })
  assert.equal(cacheMetrics(metrics, { server, zones: '.', view: '' }).requests, first.requests)
  first.hits.success.value++
  second.hits.denial.value += 2
  const lines = metrics.format().split('\n')
  for (const line of [
    'coredns_cache_hits_total{server="dns://:53",type="success",zones=".",view=""} 1',
    'coredns_cache_hits_total{server="dns://:53",type="denial",zones=".",view="inside"} 2',
    '# TYPE coredns_cache_entries gauge',
    '# TYPE coredns_cache_served_stale_total counter',
  ]) {
    assert.ok(lines.includes(line), line)
  }
})
