/**
 * The metrics of a cache (github.com/coredns/coredns, plugin/cache/metrics.go).
 * @module
 */
import type { MetricInfo, Metrics, Series } from '../../../dns/telemetry/metrics.ts'

/** The halves of a cache: positive responses, and all others. */
export type Half = 'success' | 'denial'

/** The series of one cache. */
export type CacheMetrics = {
  readonly requests: Series
  readonly misses: Series
  readonly prefetches: Series
  readonly servedStale: Series
  readonly hits: Readonly<Record<Half, Series>>
  readonly entries: Readonly<Record<Half, Series>>
  readonly bytes: Readonly<Record<Half, Series>>
  readonly evictions: Readonly<Record<Half, Series>>
}

/** The labels of a cache. */
export type CacheLabels = {
  readonly server: string
  /** Its zones, separated by commas. */
  readonly zones: string
  /** Name of the block's view, '' for none. */
  readonly view: string
}

/** Finds or creates the series of a cache. */
export function cacheMetrics(metrics: Metrics, { server, zones, view }: CacheLabels): CacheMetrics {
  const counter = (name: string, help: string): Series =>
    metrics.counter(infoOf(`coredns_cache_${name}`, help, ['server', 'zones', 'view']), [
      server,
      zones,
      view,
    ])
  const halves = (
    make: (info: MetricInfo, labels: readonly string[]) => Series,
    name: string,
    help: string,
  ): Record<Half, Series> => {
    const info = infoOf(name, help, ['server', 'type', 'zones', 'view'])
    return {
      success: make(info, [server, 'success', zones, view]),
      denial: make(info, [server, 'denial', zones, view]),
    }
  }
  const counters = metrics.counter.bind(metrics)
  const gauges = metrics.gauge.bind(metrics)
  return {
    requests: counter('requests_total', 'The count of cache requests.'),
    misses: counter(
      'misses_total',
      'The count of cache misses. Deprecated, derive misses from cache hits/requests counters.',
    ),
    prefetches: counter(
      'prefetch_total',
      'The number of times the cache has prefetched a cached item.',
    ),
    servedStale: counter(
      'served_stale_total',
      'The number of requests served from stale cache entries.',
    ),
    hits: halves(counters, 'coredns_cache_hits_total', 'The count of cache hits.'),
    evictions: halves(counters, 'coredns_cache_evictions_total', 'The count of cache evictions.'),
    entries: halves(gauges, 'coredns_cache_entries', 'The number of elements in the cache.'),
    bytes: halves(gauges, 'kubedoh_cache_bytes', 'The estimated memory of the cache in bytes.'),
  }
}

function infoOf(name: string, help: string, labels: readonly string[]): MetricInfo {
  return { name, help, labels }
}
