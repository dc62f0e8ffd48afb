/**
 * The metrics of the `grpc` plugin (github.com/coredns/coredns, plugin/grpc/metrics.go).
 * @module
 */
import { type Metrics, metricInfo, observe } from '../../../dns/telemetry/metrics.ts'

const REQUESTS = metricInfo(
  'coredns_grpc_requests_total',
  'Counter of requests made per upstream.',
  'to',
)
const RESPONSES = metricInfo(
  'coredns_grpc_responses_total',
  'Counter of requests made per upstream.',
  'rcode to',
)
const DURATION = metricInfo(
  'coredns_grpc_request_duration_seconds',
  'Histogram of the time each request took.',
  'to',
)

/** Bounds of the durations of queries to upstreams, in seconds (CoreDNS, `plugin.TimeBuckets`). */
export const DURATION_BOUNDS: readonly number[] = Array.from(
  { length: 16 },
  (_, i) => 0.00025 * 2 ** i,
)

/** Counts a query to an upstream that got a response. */
export function countCall(
  metrics: Metrics,
  upstream: string,
  { rcode, seconds }: { readonly rcode: string; readonly seconds: number },
): void {
  metrics.counter(REQUESTS, [upstream]).value++
  metrics.counter(RESPONSES, [rcode, upstream]).value++
  observe(metrics.histogram(DURATION, DURATION_BOUNDS, [upstream]), DURATION_BOUNDS, seconds)
}
