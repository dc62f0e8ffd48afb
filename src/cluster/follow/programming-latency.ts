/**
 * Measures the time from a change of endpoints to the responses that have it, as CoreDNS does.
 * @module
 */

import {
  type HistogramSeries,
  type Metrics,
  metricInfo,
  observe,
} from '../../dns/telemetry/metrics.ts'
import type { EndpointSlice, Service } from '../objects/objects.ts'

/** Most pending changes; more are not measured. */
const WAITING_MAX = 1000
/** Bounds of CoreDNS's histogram of programming durations, in seconds. */
export const PROGRAMMING_BOUNDS: readonly number[] = Array.from(
  { length: 20 },
  (_, i) => 0.001 * 2 ** i,
)
const DURATION = metricInfo(
  'coredns_kubernetes_dns_programming_duration_seconds',
  'Histogram of the time (in seconds) it took to program a dns instance.',
  'service_kind',
)

/** Measures one cluster. */
export class ProgrammingLatency {
  private readonly metrics: Metrics
  private readonly now: () => number
  private waiting: EndpointSlice[] = []
  private built: readonly EndpointSlice[] = []

  /** @param now returns milliseconds since 1970 */
  constructor(metrics: Metrics, now: () => number) {
    this.metrics = metrics
    this.now = now
  }

  /** Records a changed slice; ignores one without the time of its trigger. */
  changed(slice: EndpointSlice): void {
    if (slice.triggeredMs > 0 && this.waiting.length + this.built.length < WAITING_MAX)
      this.waiting.push(slice)
  }

  /** Notes that the snapshot has all changes so far. */
  take(): void {
    this.built = [...this.built, ...this.waiting]
    this.waiting = []
  }

  /** Records that responses have the changes of the snapshot. Ignores slices without a Service. */
  answered(serviceOf: (slice: EndpointSlice) => Service | undefined): void {
    const nowMs = this.now()
    for (const slice of this.built) {
      const service = serviceOf(slice)
      if (service === undefined) continue
      const series = this.series(service.isHeadless ? 'headless_with_selector' : 'cluster_ip')
      observe(series, PROGRAMMING_BOUNDS, Math.max(0, nowMs - slice.triggeredMs) / 1000)
    }
    this.built = []
  }

  private series(kind: string): HistogramSeries {
    return this.metrics.histogram(DURATION, PROGRAMMING_BOUNDS, [kind])
  }
}
