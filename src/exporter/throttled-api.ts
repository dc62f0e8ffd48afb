/**
 * Limits the rate and the number of requests to an API server: the options `apiserver_qps`,
 * `apiserver_burst` and `apiserver_max_inflight`.
 * @module
 */
import { type MetricInfo, type Metrics, observe } from '../telemetry/metrics.ts'
import type { Sleep } from './backoff.ts'
import { USUAL_BOUNDS } from './measured-api.ts'
import type { ObjectApi } from './object-api.ts'

/** Limits of requests; 0 if the directive has none. */
export type Throttle = {
  readonly requestsPerSecond: number
  readonly burst: number
  readonly inFlightMax: number
}

/** Defaults of Kubernetes's client if only one of the two is given (client-go, rest/config.go). */
const REQUESTS_PER_SECOND_DEFAULT = 5
const BURST_DEFAULT = 10
const WAITED: MetricInfo = {
  name: 'coredns_kubernetes_rest_client_rate_limiter_duration_seconds',
  help: 'Client side rate limiter latency in seconds. Broken down by verb and host.',
  labels: ['verb', 'host'],
}

/** The clock for waiting. */
export type ThrottleRuntime = {
  readonly metrics: Metrics
  readonly sleep: Sleep
  /** Milliseconds. */
  readonly now: () => number
}

/** Limits requests: a list for its whole time, a watch until its response starts. */
export function throttledApi(
  api: ObjectApi,
  throttle: Throttle,
  runtime: ThrottleRuntime,
): ObjectApi {
  const { requestsPerSecond, burst, inFlightMax } = throttle
  if (requestsPerSecond === 0 && burst === 0 && inFlightMax === 0) return api
  const rate = new Rate(throttle, runtime, api.host)
  const places = new Places(inFlightMax)
  const enter = async (signal: AbortSignal): Promise<() => void> => {
    if (requestsPerSecond > 0 || burst > 0) await rate.wait(signal)
    return places.take()
  }
  return {
    host: api.host,
    list: async (collection, token, signal) => {
      const leave = await enter(signal)
      try {
        return await api.list(collection, token, signal)
      } finally {
        leave()
      }
    },
    watch: async (collection, options) => {
      const leave = await enter(options.signal)
      const onOpen = (): void => {
        leave()
        options.onOpen()
      }
      try {
        await api.watch(collection, { ...options, onOpen })
      } finally {
        leave()
      }
    },
  }
}

/** A token bucket: one token for each request, refilled over time. */
class Rate {
  private readonly perMs: number
  private readonly tokensMax: number
  private readonly runtime: ThrottleRuntime
  private readonly host: string
  /** Negative: waiting requests have taken tokens in advance. */
  private tokens: number
  private filledMs: number

  constructor({ requestsPerSecond, burst }: Throttle, runtime: ThrottleRuntime, host: string) {
    this.perMs = (requestsPerSecond || REQUESTS_PER_SECOND_DEFAULT) / 1000
    this.tokensMax = burst || BURST_DEFAULT
    this.tokens = this.tokensMax
    this.runtime = runtime
    this.host = host
    this.filledMs = runtime.now()
  }

  async wait(signal: AbortSignal): Promise<void> {
    const { metrics, sleep, now } = this.runtime
    const nowMs = now()
    const gained = Math.max(0, nowMs - this.filledMs) * this.perMs
    this.tokens = Math.min(this.tokensMax, this.tokens + gained) - 1
    this.filledMs = nowMs
    const delayMs = Math.max(0, -this.tokens / this.perMs)
    if (delayMs > 0) await sleep(delayMs, signal)
    const series = metrics.histogram(WAITED, USUAL_BOUNDS, ['GET', this.host])
    observe(series, USUAL_BOUNDS, delayMs / 1000)
  }
}

/** A semaphore for requests in flight; 0 means no limit. */
class Places {
  private free: number
  private readonly waiting: (() => void)[] = []

  constructor(count: number) {
    this.free = count === 0 ? Number.POSITIVE_INFINITY : count
  }

  /** Waits for a slot. Returns a function that releases it, which may be called again. */
  async take(): Promise<() => void> {
    if (this.free > 0) this.free--
    else await new Promise<void>((resolve) => this.waiting.push(resolve))
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      const next = this.waiting.shift()
      if (next === undefined) this.free++
      else next()
    }
  }
}
