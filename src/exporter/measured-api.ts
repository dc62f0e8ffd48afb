/**
 * Counts and times the requests to an API server, as CoreDNS does (plugin/kubernetes/metrics.go).
 * @module
 */
import { type MetricInfo, type Metrics, observe } from '../telemetry/metrics.ts'
import { ApiError, type ObjectApi } from './object-api.ts'

/** Bounds of Prometheus's default histogram, in seconds. */
export const USUAL_BOUNDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]
const REQUESTS: MetricInfo = {
  name: 'coredns_kubernetes_rest_client_requests_total',
  help: 'Number of HTTP requests, partitioned by status code, method, and host.',
  labels: ['code', 'method', 'host'],
}
const DURATION: MetricInfo = {
  name: 'coredns_kubernetes_rest_client_request_duration_seconds',
  help: 'Request latency in seconds. Broken down by verb and host.',
  labels: ['verb', 'host'],
}
const OK = 200
/** Label in place of a status if there was no response. */
const NO_STATUS = '<error>'

/**
 * Measures requests: a list until it is complete, a watch until its response starts.
 * @param now returns milliseconds of a monotonic clock
 */
export function measuredApi(api: ObjectApi, metrics: Metrics, now: () => number): ObjectApi {
  const { host } = api
  const begin = (): ((status: number | undefined) => void) => {
    const startMs = now()
    let isOver = false
    return (status) => {
      if (isOver) return
      isOver = true
      const code = status === undefined ? NO_STATUS : String(status)
      metrics.counter(REQUESTS, [code, 'GET', host]).value++
      const series = metrics.histogram(DURATION, USUAL_BOUNDS, ['GET', host])
      observe(series, USUAL_BOUNDS, Math.max(0, now() - startMs) / 1000)
    }
  }
  return {
    host,
    list: async (collection, token, signal) => {
      const end = begin()
      try {
        const page = await api.list(collection, token, signal)
        end(OK)
        return page
      } catch (error) {
        end(statusOf(error))
        throw error
      }
    },
    watch: async (collection, options) => {
      const end = begin()
      const onOpen = (): void => {
        end(OK)
        options.onOpen()
      }
      try {
        await api.watch(collection, { ...options, onOpen })
      } catch (error) {
        end(statusOf(error))
        throw error
      }
    },
  }
}

function statusOf(error: unknown): number | undefined {
  return error instanceof ApiError ? error.status : undefined
}
