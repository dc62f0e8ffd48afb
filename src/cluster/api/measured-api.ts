/**
 * Counts and times the requests to an API server, as CoreDNS does (plugin/kubernetes/metrics.go).
 * @module
 */
import { type Metrics, metricInfo, observe } from '../../dns/telemetry/metrics.ts'
import type { Sleep } from './backoff.ts'
import { ApiError, type ObjectApi, STATUS_OK } from './object-api.ts'
import { TokenBucket } from './token-bucket.ts'

/** Bounds of Prometheus's default histogram, in seconds. */
export const USUAL_BOUNDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]
const REQUESTS = metricInfo(
  'coredns_kubernetes_rest_client_requests_total',
  'Number of HTTP requests, partitioned by status code, method, and host.',
  'code method host',
)
const DURATION = metricInfo(
  'coredns_kubernetes_rest_client_request_duration_seconds',
  'Request latency in seconds. Broken down by verb and host.',
  'verb host',
)
/** Requests by kind: CoreDNS has no such metric. */
const KIND_REQUESTS = metricInfo(
  'kubedoh_kubernetes_requests_total',
  'Requests to the API server by kind of object, verb and status code.',
  'resource verb code',
)

/** Ends a request with its status, `undefined` if there was no response. */
type End = (status: number | undefined) => void
/** A request: its HTTP method, its verb in RBAC rules, and the plural name of the kind. */
type Requested = { readonly method: string; readonly verb: string; readonly resource: string }
type Begin = (requested: Requested, signal: AbortSignal) => End | Promise<End>
const VERBS = { GET: 'get', POST: 'create', PUT: 'update', DELETE: 'delete' } as const
/** Label in place of a status if there was no response. */
const NO_STATUS = '<error>'

/**
 * Measures requests: a list until it is complete, a watch until its response starts.
 * @param now returns milliseconds of a monotonic clock
 */
export function measuredApi(api: ObjectApi, metrics: Metrics, now: () => number): ObjectApi {
  const { host } = api
  const begin: Begin = ({ method, verb, resource }) => {
    const startMs = now()
    return (status) => {
      const code = status === undefined ? NO_STATUS : String(status)
      metrics.counter(REQUESTS, [code, method, host]).value++
      metrics.counter(KIND_REQUESTS, [resource, verb, code]).value++
      const series = metrics.histogram(DURATION, USUAL_BOUNDS, [method, host])
      observe(series, USUAL_BOUNDS, Math.max(0, now() - startMs) / 1000)
    }
  }
  return aroundRequests(api, begin)
}

/**
 * Returns an API that calls `begin` before each request, and the function that this resolves with
 * once with the status: when a list is complete, when a watch opens, or when either ends before.
 * The status is 200 or that of an error, `undefined` if there was no response.
 */
function aroundRequests(api: ObjectApi, begin: Begin): ObjectApi {
  const around = <T>(
    requested: Requested,
    signal: AbortSignal,
    request: (end: () => void) => Promise<T>,
  ): Promise<T> => {
    const run = async (end: End): Promise<T> => {
      let isOver = false
      const endOnce: End = (status) => {
        if (!isOver) end(status)
        isOver = true
      }
      try {
        const result = await request(() => endOnce(STATUS_OK))
        endOnce(STATUS_OK)
        return result
      } catch (error) {
        endOnce(error instanceof ApiError ? error.status : undefined)
        throw error
      }
    }
    // A request that need not wait starts at once.
    const begun = begin(requested, signal)
    return begun instanceof Promise ? begun.then(run) : run(begun)
  }
  return {
    host: api.host,
    list: (collection, token, signal, onBytes) => {
      const requested = { method: 'GET', verb: 'list', resource: collection.resource }
      return around(requested, signal, () => api.list(collection, token, signal, onBytes))
    },
    send: (request, signal) => {
      const requested = { ...request, verb: VERBS[request.method] }
      return around(requested, signal, () => api.send(request, signal))
    },
    watch: (collection, options) => {
      const requested = { method: 'GET', verb: 'watch', resource: collection.resource }
      return around(requested, options.signal, (end) => {
        const onOpen = (): void => {
          end()
          options.onOpen()
        }
        return api.watch(collection, { ...options, onOpen })
      })
    },
  }
}

/** Limits of requests; 0 if the directive has none. */
export type Throttle = {
  readonly requestsPerSecond: number
  readonly burst: number
  readonly inFlightMax: number
}

/** Defaults of Kubernetes's client if only one of the two is given (client-go, rest/config.go). */
const REQUESTS_PER_SECOND_DEFAULT = 5
const BURST_DEFAULT = 10
const WAITED = metricInfo(
  'coredns_kubernetes_rest_client_rate_limiter_duration_seconds',
  'Client side rate limiter latency in seconds. Broken down by verb and host.',
  'verb host',
)

type Runtime = {
  readonly metrics: Metrics
  readonly sleep: Sleep
  /** Milliseconds. */
  readonly now: () => number
}

/** Limits requests: a list for its whole time, a watch until its response starts. */
export function throttledApi(api: ObjectApi, throttle: Throttle, runtime: Runtime): ObjectApi {
  const { requestsPerSecond, burst, inFlightMax } = throttle
  if (requestsPerSecond === 0 && burst === 0 && inFlightMax === 0) return api
  const { metrics, sleep, now } = runtime
  const perSecond = requestsPerSecond || REQUESTS_PER_SECOND_DEFAULT
  const rate = new TokenBucket(perSecond, burst || BURST_DEFAULT, now)
  const places = new Places(inFlightMax)
  return aroundRequests(api, async ({ method }, signal) => {
    if (requestsPerSecond > 0 || burst > 0) {
      const delayMs = rate.take()
      if (delayMs > 0) await sleep(delayMs, signal)
      const series = metrics.histogram(WAITED, USUAL_BOUNDS, [method, api.host])
      observe(series, USUAL_BOUNDS, delayMs / 1000)
    }
    return places.take()
  })
}

/** A semaphore for requests in flight; 0 means no limit. */
class Places {
  private free: number
  private readonly waiting: (() => void)[] = []

  constructor(count: number) {
    this.free = count === 0 ? Number.POSITIVE_INFINITY : count
  }

  /** Waits for a slot. Returns a function that releases it. */
  async take(): Promise<() => void> {
    if (this.free > 0) this.free--
    else await new Promise<void>((resolve) => this.waiting.push(resolve))
    return () => {
      const next = this.waiting.shift()
      if (next === undefined) this.free++
      else next()
    }
  }
}
