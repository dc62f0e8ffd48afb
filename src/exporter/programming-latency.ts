/**
 * How long it takes from a change in the cluster to its names being answered: the DNS programming
 * latency of Kubernetes (CoreDNS, plugin/kubernetes/object/metrics.go), measured to the moment at
 * which the changed names are answered.
 * @module
 */
import type { EndpointSlice, Service } from '../kubernetes/objects/objects.ts'
import {
  type HistogramSeries,
  type MetricInfo,
  type Metrics,
  observe,
} from '../telemetry/metrics.ts'

/** Changes that wait to be answered; more are not measured. */
const WAITING_MAX = 1000
const BOUNDS = Array.from({ length: 20 }, (_, i) => 0.001 * 2 ** i)
const DURATION: MetricInfo = {
  name: 'coredns_kubernetes_dns_programming_duration_seconds',
  help: 'Histogram of the time (in seconds) it took to program a dns instance.',
  labels: ['service_kind'],
}

/** Measures one cluster. */
export class ProgrammingLatency {
  private readonly metrics: Metrics
  private readonly now: () => number
  private waiting: EndpointSlice[] = []

  /** @param now gives milliseconds since 1970 */
  constructor(metrics: Metrics, now: () => number) {
    this.metrics = metrics
    this.now = now
  }

  /** Learns of a slice that changed; one that does not say since when is passed over. */
  changed(slice: EndpointSlice): void {
    if (slice.triggeredMs > 0 && this.waiting.length < WAITING_MAX) this.waiting.push(slice)
  }

  /** Learns that all changes by now are answered. Slices without a Service count for nothing. */
  answered(serviceOf: (slice: EndpointSlice) => Service | undefined): void {
    const nowMs = this.now()
    for (const slice of this.waiting) {
      const service = serviceOf(slice)
      if (service === undefined) continue
      const series = this.series(service.isHeadless ? 'headless_with_selector' : 'cluster_ip')
      observe(series, BOUNDS, Math.max(0, nowMs - slice.triggeredMs) / 1000)
    }
    this.waiting = []
  }

  private series(kind: string): HistogramSeries {
    return this.metrics.histogram(DURATION, BOUNDS, [kind])
  }
}
