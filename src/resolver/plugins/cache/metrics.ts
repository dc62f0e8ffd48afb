/**
 * The metrics of a cache (github.com/coredns/coredns, plugin/cache/metrics.go).
 * @module
 */
import { type Metrics, metricInfo, type Series } from '../../../dns/telemetry/metrics.ts'

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

const LABELS = 'server zones view'
const REQUESTS = metricInfo('coredns_cache_requests_total', 'The count of cache requests.', LABELS)
const MISSES = metricInfo(
  'coredns_cache_misses_total',
  'The count of cache misses. Deprecated, derive misses from cache hits/requests counters.',
  LABELS,
)
const PREFETCHES = metricInfo(
  'coredns_cache_prefetch_total',
  'The number of times the cache has prefetched a cached item.',
  LABELS,
)
const SERVED_STALE = metricInfo(
  'coredns_cache_served_stale_total',
  'The number of requests served from stale cache entries.',
  LABELS,
)
const HALF_LABELS = 'server type zones view'
const HITS = metricInfo('coredns_cache_hits_total', 'The count of cache hits.', HALF_LABELS)
const EVICTIONS = metricInfo(
  'coredns_cache_evictions_total',
  'The count of cache evictions.',
  HALF_LABELS,
)
const ENTRIES = metricInfo(
  'coredns_cache_entries',
  'The number of elements in the cache.',
  HALF_LABELS,
)
const BYTES = metricInfo(
  'kubedoh_cache_bytes',
  'The estimated memory of the cache in bytes.',
  HALF_LABELS,
)

/** Finds or creates the series of a cache. */
export function cacheMetrics(metrics: Metrics, { server, zones, view }: CacheLabels): CacheMetrics {
  const labels = [server, zones, view]
  const halves = (find: (labels: readonly string[]) => Series): Record<Half, Series> => ({
    success: find([server, 'success', zones, view]),
    denial: find([server, 'denial', zones, view]),
  })
  return {
    requests: metrics.counter(REQUESTS, labels),
    misses: metrics.counter(MISSES, labels),
    prefetches: metrics.counter(PREFETCHES, labels),
    servedStale: metrics.counter(SERVED_STALE, labels),
    hits: halves((values) => metrics.counter(HITS, values)),
    evictions: halves((values) => metrics.counter(EVICTIONS, values)),
    entries: halves((values) => metrics.gauge(ENTRIES, values)),
    bytes: halves((values) => metrics.gauge(BYTES, values)),
  }
}
