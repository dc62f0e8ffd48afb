/**
 * Queries our own `/health` once a second and measures the duration, which rises when the process
 * is overloaded (CoreDNS, plugin/health/overloaded.go).
 * @module
 */
import { Agent, get } from 'node:http'
import { type Metrics, metricInfo, observe } from '../../dns/telemetry/metrics.ts'

const INTERVAL_MS = 1000
const TIMEOUT_MS = 3000
const DURATION_BOUNDS = [0.00025, 0.0025, 0.025, 0.25, 2.5]

const DURATION = metricInfo(
  'coredns_health_request_duration_seconds',
  'Histogram of the time (in seconds) each request took.',
)
const FAILURES = metricInfo(
  'coredns_health_request_failures_total',
  'The number of times the health check failed.',
)

/** Starts to probe a server. Returns a function that stops the probe. */
export function startHealthProbe(
  { host, port }: { readonly host: string; readonly port: number },
  metrics: Metrics,
): () => void {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const durations = metrics.histogram(DURATION, DURATION_BOUNDS)
  const failures = metrics.counter(FAILURES)
  let isProbing = false
  const probe = (): void => {
    if (isProbing) return
    isProbing = true
    const startMs = performance.now()
    const end = (failureCount: number): void => {
      isProbing = false
      failures.value += failureCount
      observe(durations, DURATION_BOUNDS, (performance.now() - startMs) / 1000)
    }
    const request = get({ host, port, path: '/health', agent, timeout: TIMEOUT_MS }, (response) => {
      response.resume()
      response.once('end', () => end(0))
    })
    request.once('timeout', () => request.destroy(new Error('timeout')))
    request.once('error', () => end(1))
  }
  const timer = setInterval(probe, INTERVAL_MS)
  timer.unref()
  return () => {
    clearInterval(timer)
    agent.destroy()
  }
}
