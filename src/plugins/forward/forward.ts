/**
 * Forwards the queries of one `forward` directive: tries upstreams in turn until one responds.
 * @module
 */

import { type Host, OverloadError, type Upstream, type UpstreamClient } from '../../chain/host.ts'
import type { MaybePromise } from '../../chain/maybe-promise.ts'
import type { UpstreamExchange } from '../../chain/observation.ts'
import { failure, type Outcome } from '../../chain/outcome.ts'
import type { Request } from '../../chain/request.ts'
import { EXTENDED_ERROR, extendedError } from '../../dns/edns.ts'
import type { Reply, Response } from '../../dns/message.ts'
import { equalNames, isSubdomain } from '../../dns/name.ts'
import { formatRcode, RCODE } from '../../dns/rcode.ts'
import { observe, type Series } from '../../telemetry/metrics.ts'
import type { ForwardOptions } from './options.ts'
import { reasonOf } from './reason.ts'
import { UpstreamHealth } from './upstream-health.ts'
import { readResponse, relayed, upstreamKey, upstreamQuery } from './upstream-query.ts'
import { upstreamName } from './upstreams.ts'
import { type Group, WaitingRequests } from './waiting.ts'

/** Time for all upstreams together: clients give up after five seconds. */
const TOTAL_MS = 4000
/** Attempts for one query where `max_connect_attempts 0` bounds them by time alone. */
const ATTEMPTS_MAX = 100

const DURATION = {
  name: 'coredns_proxy_request_duration_seconds',
  help: 'Histogram of the time each request took.',
  labels: ['proxy_name', 'to', 'rcode'],
}
const DURATION_BOUNDS: readonly number[] = Array.from({ length: 16 }, (_, i) => 0.00025 * 2 ** i)
const CONNECTION_LABELS = ['proxy_name', 'to', 'proto']
const CONNECTION_HITS = {
  name: 'coredns_proxy_conn_cache_hits_total',
  help: 'Counter of connection cache hits per upstream and protocol.',
  labels: CONNECTION_LABELS,
}
const REJECTS = {
  name: 'coredns_forward_max_concurrent_rejects_total',
  help: 'Counter of the number of queries rejected because the concurrent queries were at maximum.',
  labels: [],
}
const BROKEN_CHECKS = {
  name: 'coredns_forward_healthcheck_broken_total',
  help: 'Counter of the number of complete failures of the healthchecks.',
  labels: [],
}
const CONNECTION_MISSES = {
  name: 'coredns_proxy_conn_cache_misses_total',
  help: 'Counter of connection cache misses per upstream and protocol.',
  labels: CONNECTION_LABELS,
}

const OVERLOADED = 'too many queries under way'
const NO_UPSTREAM = extendedError(EXTENDED_ERROR.NO_REACHABLE_AUTHORITY, 'no upstream answered')

/** The result of a query. */
export type Relayed = {
  readonly outcome: Outcome
  /** The upstream that got the query last; '' for none. */
  readonly upstream: string
  /** Whether the query goes to the next `forward` because of this outcome. */
  readonly goesOn: boolean
}

/** An upstream, with its client and health. */
type Target = {
  readonly name: string
  readonly upstream: Upstream
  readonly client: UpstreamClient
  readonly health: UpstreamHealth
}

/** What the server block decides for all of its `forward` directives. */
export type BlockOptions = {
  /** Whether clients get the reason for a failure. */
  readonly showsErrors: boolean
  /** Observes each query to an upstream. */
  readonly observeExchange: (exchange: UpstreamExchange) => void
}

/** The waiting requests of a process, across all directives and reloads. */
const WAITING = new WeakMap<Host, WaitingRequests<Relayed>>()

function waitingOf(host: Host): WaitingRequests<Relayed> {
  const known = WAITING.get(host)
  if (known !== undefined) return known
  const waiting = new WaitingRequests<Relayed>(() => {
    host.metrics.counter(REJECTS).value++
    return { outcome: failure(RCODE.SERVFAIL, OVERLOADED), upstream: '', goesOn: false }
  })
  WAITING.set(host, waiting)
  return waiting
}

/** Relays queries for one zone. */
export class Forward {
  private readonly options: ForwardOptions
  private readonly host: Host
  private readonly showsErrors: boolean
  private readonly observeExchange: BlockOptions['observeExchange']
  private readonly targets: readonly Target[]
  /** Queries under way, by `upstreamKey`: equal queries share one response. */
  private readonly pending = new Map<string, Group<Relayed>>()
  private readonly waiting: WaitingRequests<Relayed>
  private readonly rejects: Series
  private readonly brokenChecks: Series
  private turn = 0
  private concurrent = 0

  /** @throws {Error} when this runtime does not support an upstream or its options */
  constructor(options: ForwardOptions, host: Host, { showsErrors, observeExchange }: BlockOptions) {
    this.options = options
    this.showsErrors = showsErrors
    this.observeExchange = observeExchange
    this.host = host
    this.rejects = host.metrics.counter(REJECTS)
    this.waiting = waitingOf(host)
    this.brokenChecks = host.metrics.counter(BROKEN_CHECKS)
    this.targets = options.upstreams.map((upstream) => {
      const name = upstreamName(upstream)
      const client = host.openUpstream(upstream, {
        ...options.connections,
        onConnection: (protocol, isReused) => {
          const labels = ['forward', name, protocol]
          host.metrics.counter(isReused ? CONNECTION_HITS : CONNECTION_MISSES, labels).value++
        },
      })
      return { name, upstream, client, health: new UpstreamHealth({ name, client, options, host }) }
    })
  }

  /** Whether a request is for this directive. */
  takes({ lowerName }: Request): boolean {
    const { from, except } = this.options
    if (!isSubdomain(lowerName, from)) return false
    return equalNames(lowerName, from) || !except.some((zone) => isSubdomain(lowerName, zone))
  }

  /** Queries upstreams, or joins the requests that wait for the same response. Never rejects. */
  relay(request: Request): MaybePromise<Relayed> {
    const key = upstreamKey(request)
    const known = this.pending.get(key)
    const { isolatesRequests } = this.host
    if (known !== undefined && !isolatesRequests) return this.waiting.join(known)
    const { concurrentMax } = this.options
    if (concurrentMax > 0 && this.concurrent >= concurrentMax) {
      this.rejects.value++
      const outcome = failure(RCODE.REFUSED, `over ${concurrentMax} concurrent queries`)
      return { outcome, upstream: '', goesOn: false }
    }
    this.concurrent++
    const group: Group<Relayed> = new Set()
    const running = this.queryUpstreams(request).then((result) => {
      this.concurrent--
      this.pending.delete(key)
      this.waiting.settle(group, result)
      return result
    })
    if (isolatesRequests) return running
    this.pending.set(key, group)
    return this.waiting.join(group)
  }

  /** Ends all health checks and closes all connections. */
  stop(): void {
    for (const { client, health } of this.targets) {
      health.stop()
      client.close()
    }
  }

  private async queryUpstreams(request: Request): Promise<Relayed> {
    const { readTimeoutMs, attemptsMax, failover } = this.options
    const deadlineMs = this.host.elapsed() + Math.max(TOTAL_MS, readTimeoutMs)
    let failuresLeft = attemptsMax > 0 ? attemptsMax : ATTEMPTS_MAX
    let failoversLeft = this.targets.length - 1
    let reason = 'no healthy upstream'
    let last = ''
    /** The last reply with an rcode of `failover`, in case there is no better one. */
    let fallback: Relayed | undefined
    for (const target of this.candidates()) {
      const leftMs = deadlineMs - this.host.elapsed()
      if (leftMs <= 0) break
      last = target.name
      const response = await this.tryTarget(target, request, Math.min(readTimeoutMs, leftMs))
      if (typeof response === 'string') {
        reason = response
        if (response === OVERLOADED) break
        target.health.noteFailure()
        if (--failuresLeft <= 0) break
        continue
      }
      target.health.noteAnswer()
      const outcome = relayed(response, request)
      fallback = { outcome, upstream: last, goesOn: this.goesOn(outcome) }
      if (!failover.includes(outcome.rcode) || --failoversLeft < 0) return fallback
    }
    if (fallback !== undefined) return fallback
    const outcome = failure(RCODE.SERVFAIL, reason, this.showsErrors ? [NO_UPSTREAM] : [])
    return { outcome, upstream: last, goesOn: false }
  }

  private goesOn({ rcode, answer }: Reply): boolean {
    const { next, nextOnNodata } = this.options
    return next.includes(rcode) || (nextOnNodata && rcode === RCODE.NOERROR && answer.length === 0)
  }

  /**
   * Lists the healthy upstreams in the policy's order, again and again. If all are down, assumes
   * that the health checks are broken and tries each upstream once more.
   */
  private *candidates(): Generator<Target> {
    const ordered = this.ordered()
    for (;;) {
      let isAnyUp = false
      for (const target of ordered) {
        if (target.health.isDown) continue
        isAnyUp = true
        yield target
      }
      if (isAnyUp) continue
      this.brokenChecks.value++
      if (!this.options.failsFast) yield* ordered
      return
    }
  }

  private ordered(): Target[] {
    const { targets } = this
    switch (this.options.policy) {
      case 'sequential':
        return [...targets]
      case 'round_robin': {
        const first = this.turn++ % targets.length
        return [...targets.slice(first), ...targets.slice(0, first)]
      }
      case 'random':
        return this.shuffled()
    }
  }

  /** Shuffles the upstreams uniformly (Fisher and Yates). */
  private shuffled(): Target[] {
    const rest = [...this.targets]
    const shuffled: Target[] = []
    while (rest.length > 0) shuffled.push(...rest.splice(this.host.random16() % rest.length, 1))
    return shuffled
  }

  /**
   * Queries one upstream. Returns its response, or the reason for a failure. With `prefer_udp`,
   * repeats a query with a truncated response over TCP.
   */
  private async tryTarget(
    target: Target,
    request: Request,
    timeoutMs: number,
  ): Promise<Response | string> {
    const { name, upstream } = target
    const { protocol } = this.options
    const clientProtocol = request.client.transport === 'udp' ? 'udp' : 'tcp'
    const first = protocol === 'as-client' ? clientProtocol : protocol
    const query = upstreamQuery(request, this.host.random16(), upstream.transport)
    const startMs = this.host.elapsed()
    const about = { request, query, endMs: startMs + timeoutMs }
    try {
      let response = await this.exchange(target, about, first)
      if (response?.truncated === true && protocol === 'udp') {
        response = await this.exchange(target, about, 'tcp')
      }
      if (response === undefined) return `${name} sent a response that does not match the query`
      const labels = ['forward', name, formatRcode(response.rcode)]
      const series = this.host.metrics.histogram(DURATION, DURATION_BOUNDS, labels)
      observe(series, DURATION_BOUNDS, (this.host.elapsed() - startMs) / 1000)
      return response
    } catch (error) {
      return error instanceof OverloadError ? OVERLOADED : reasonOf(name, error)
    }
  }

  /** Sends a query once, and passes it and its response to observing plugins. */
  private async exchange(
    { upstream, client }: Target,
    { request, query, endMs }: { request: Request; query: Uint8Array; endMs: number },
    protocol: 'udp' | 'tcp',
  ): Promise<Response | undefined> {
    const { address, port, transport } = upstream
    const isUdp = transport === 'dns' && protocol === 'udp'
    const startMs = this.host.now()
    let reply: Uint8Array | undefined
    try {
      reply = await client.exchange(query, { protocol, timeoutMs: endMs - this.host.elapsed() })
      return readResponse(reply, request)
    } finally {
      this.observeExchange({ clientQuery: request, query, startMs, address, port, isUdp, reply })
    }
  }
}
