/**
 * The metrics of a signature cache (github.com/coredns/coredns, plugin/dnssec/metrics.go).
 * @module
 */
import type { Metrics, Series } from '../../telemetry/metrics.ts'

/** The series of one cache. */
export type DnssecMetrics = {
  readonly entries: Series
  readonly hits: Series
  readonly misses: Series
}

/** Finds or creates the series of a server's cache. */
export function dnssecMetrics(metrics: Metrics, server: string): DnssecMetrics {
  const entries = {
    name: 'coredns_dnssec_cache_entries',
    help: 'The number of elements in the dnssec cache.',
    labels: ['server', 'type'],
  }
  const counter = (name: string, help: string): Series =>
    metrics.counter({ name: `coredns_dnssec_cache_${name}`, help, labels: ['server'] }, [server])
  return {
    entries: metrics.gauge(entries, [server, 'signature']),
    hits: counter('hits_total', 'The count of cache hits.'),
    misses: counter('misses_total', 'The count of cache misses.'),
  }
}
