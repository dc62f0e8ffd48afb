import assert from 'node:assert/strict'
import { test } from 'vitest'
import { Metrics } from '../../../../src/dns/telemetry/metrics.ts'
import { dnssecMetrics } from '../../../../src/resolver/plugins/dnssec/signer.ts'

test('a cache of signatures has the series that CoreDNS has', () => {
  const metrics = new Metrics()
  const { entries, hits, misses } = dnssecMetrics(metrics, 'dns://:53')
  entries.value = 3
  hits.value += 2
  misses.value += 1
  assert.deepEqual(
    metrics
      .format()
      .split('\n')
      .filter((line) => !line.startsWith('#')),
    [
      'coredns_dnssec_cache_entries{server="dns://:53",type="signature"} 3',
      'coredns_dnssec_cache_hits_total{server="dns://:53"} 2',
      'coredns_dnssec_cache_misses_total{server="dns://:53"} 1',
      '',
    ],
  )
})
