/**
 * Forwards the queries of one `forward` directive: tries upstreams in turn until one responds.
 * @module
 */

import { equalNames, isSubdomain } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { type Metrics, metricInfo, type Series } from '../../../dns/telemetry/metrics.ts'
import { EXTENDED_ERROR, extendedError } from '../../../dns/wire/edns.ts'
import type { Reply, Response } from '../../../dns/wire/message.ts'
import type { Host } from '../../contract/host.ts'
import type { MaybePromise } from '../../contract/maybe-promise.ts'
import type { UpstreamExchange } from '../../contract/observation.ts'
import { failure, type Outcome } from '../../contract/outcome.ts'
import type { Request } from '../../contract/request.ts'
import { Hedging } from './hedging.ts'
import type { ForwardOptions } from './options.ts'
import { OVERLOADED, Target } from './target.ts'
import { relayed, upstreamKey } from './upstream-query.ts'
import { type Group, WaitingRequests } from './waiting.ts'

/** Time for all upstreams together: clients give up after five seconds. */
const TOTAL_MS = 4000
/**
 * Time after which the client of a query over UDP has given up: stub resolvers wait for five
 * seconds at most (glibc, musl, Go, systemd-resolved, c-ares).
 */
const CLIENT_MS = 5000
/** What is added to a `read_timeout` that is longer: its clients wait longer, too. */
const GRACE_MS = 1000
/** Attempts for one query where `max_connect_attempts 0` bounds them by time alone. */
const ATTEMPTS_MAX = 100

const REJECTS = metricInfo(
  'coredns_forward_max_concurrent_rejects_total',
  'Counter of the number of queries rejected because the concurrent queries were at maximum.',
)
const LATE = metricInfo(
  'kubedoh_forward_late_total',
  'Queries over UDP without a response, because their clients had given up.',
)
const BROKEN_CHECKS = metricInfo(
  'coredns_forward_healthcheck_broken_total',
  'Counter of the number of complete failures of the healthchecks.',
)
const NO_UPSTREAM = extendedError(EXTENDED_ERROR.NO_REACHABLE_AUTHORITY, 'no upstream answered')

/** The result of a query. */
export type Relayed = {
  readonly outcome: Outcome
  /** The upstream that got the query last; '' for none. */
  readonly upstream: string
  /** Whether the query goes to the next `forward` because of this outcome. */
  readonly goesOn: boolean
}

/** A query to one upstream that ended: with its response, or with the reason for the failure. */
type Attempt = { readonly target: Target; readonly response: Response | string }

/** What the server block decides for all of its `forward` directives. */
export type BlockOptions = {
  /** Whether clients get the reason for a failure. */
  readonly showsErrors: boolean
  /** Observes each query to an upstream. */
  readonly observeExchange: (exchange: UpstreamExchange) => void
}

/**
 * The waiting requests of a process, across all directives and reloads. The metrics stand for the
 * process: each directive has a host of its own.
 */
const WAITING = new WeakMap<Metrics, WaitingRequests<Relayed>>()

function waitingOf({ metrics, awake }: Host): WaitingRequests<Relayed> {
  const known = WAITING.get(metrics)
  if (known !== undefined) return known
  const waiting = new WaitingRequests<Relayed>({
    now: awake,
    drop: () => {
      metrics.counter(REJECTS).value++
      return { outcome: failure(RCODE.SERVFAIL, OVERLOADED), upstream: '', goesOn: false }
    },
    giveUp: () => {
      metrics.counter(LATE).value++
      return { outcome: { kind: 'drop' }, upstream: '', goesOn: false }
    },
  })
  WAITING.set(metrics, waiting)
  return waiting
}

/** Relays queries for one zone. */
export class Forward {
  private readonly host: Host
  private readonly beside: BlockOptions
  private options: ForwardOptions
  private targets: readonly Target[] = []
  /** Queries under way, by `upstreamKey`: equal queries share one response. */
  private readonly pending = new Map<string, Group<Relayed>>()
  private readonly waiting: WaitingRequests<Relayed>
  private readonly rejects: Series
  private readonly brokenChecks: Series
  private readonly hedging: Hedging<Attempt> | undefined
  private turn = 0
  private concurrent = 0

  /** @throws {Error} when this runtime does not support an upstream or its options */
  constructor(options: ForwardOptions, host: Host, beside: BlockOptions) {
    this.options = options
    this.beside = beside
    this.host = host
    this.rejects = host.metrics.counter(REJECTS)
    this.waiting = waitingOf(host)
    this.brokenChecks = host.metrics.counter(BROKEN_CHECKS)
    const { hedgeMs, failover } = options
    this.hedging =
      hedgeMs === undefined
        ? undefined
        : new Hedging(hedgeMs, host, ({ response }) => {
            return typeof response !== 'string' && !failover.includes(response.rcode)
          })
    this.update(options)
  }

  /**
   * Takes over options of the same directive with other upstreams. Those that stay keep their
   * connections and their health.
   * @returns whether any upstream is another
   * @throws {Error} when this runtime does not support an upstream
   */
  update(options: ForwardOptions): boolean {
    const { host, targets: before } = this
    const { observeExchange } = this.beside
    this.targets = options.upstreams.map((upstream) => {
      const known = before.find((target) => target.isAt(upstream))
      return known ?? new Target(upstream, { options, host, observeExchange })
    })
    this.options = options
    const left = before.filter((target) => !this.targets.includes(target))
    for (const target of left) target.stop()
    return left.length > 0 || this.targets.length > before.length
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
    const untilMs = this.untilMs(request)
    if (this.host.awake() > untilMs) return this.waiting.giveUp()
    if (known !== undefined && !isolatesRequests) return this.waiting.join(known, untilMs)
    const { concurrentMax } = this.options
    if (concurrentMax > 0 && this.concurrent >= concurrentMax) {
      this.rejects.value++
      const outcome = failure(RCODE.REFUSED, `over ${concurrentMax} concurrent queries`)
      return { outcome, upstream: '', goesOn: false }
    }
    this.concurrent++
    const group: Group<Relayed> = new Set()
    const isAwaited = (): boolean => isolatesRequests || this.waiting.isAwaited(group)
    const running = this.queryUpstreams(request, isAwaited).then((result) => {
      this.concurrent--
      this.pending.delete(key)
      this.waiting.settle(group, result)
      return result
    })
    if (isolatesRequests) return running
    this.pending.set(key, group)
    return this.waiting.join(group, untilMs)
  }

  /** Ends all health checks and closes all connections. */
  stop(): void {
    for (const target of this.targets) target.stop()
  }

  /**
   * Returns when a request's client gives up. One that keeps a connection open may wait for any
   * time.
   */
  private untilMs({ client, sinceMs }: Request): number {
    if (client.transport !== 'udp') return Number.POSITIVE_INFINITY
    return sinceMs + Math.max(CLIENT_MS, this.options.readTimeoutMs + GRACE_MS)
  }

  /** @param isAwaited whether a client still waits for the response */
  private async queryUpstreams(request: Request, isAwaited: () => boolean): Promise<Relayed> {
    const { attemptsMax, failover } = this.options
    let failuresLeft = attemptsMax > 0 ? attemptsMax : ATTEMPTS_MAX
    let failoversLeft = this.targets.length - 1
    let reason = this.targets.length === 0 ? this.noUpstream() : 'no healthy upstream'
    let last = ''
    /** The last reply with an rcode of `failover`, in case there is no better one. */
    let fallback: Relayed | undefined
    for await (const { target, response } of this.attempts(request)) {
      last = target.name
      if (typeof response === 'string') {
        reason = response
        if (response === OVERLOADED || --failuresLeft <= 0 || !isAwaited()) break
        continue
      }
      const outcome = relayed(response, request)
      fallback = { outcome, upstream: last, goesOn: this.goesOn(outcome) }
      const isLast = !failover.includes(outcome.rcode) || --failoversLeft < 0
      if (isLast || !isAwaited()) return fallback
    }
    if (fallback !== undefined) return fallback
    const outcome = failure(RCODE.SERVFAIL, reason, this.beside.showsErrors ? [NO_UPSTREAM] : [])
    return { outcome, upstream: last, goesOn: false }
  }

  private noUpstream(): string {
    const paths = this.options.files.map(({ word }) => `"${word.text}"`)
    return `no upstream: ${paths.join(', ')} lists no nameserver`
  }

  /**
   * Queries the candidates in turn, each when the caller needs it and while there is time. After a
   * failure, reuses only connections that are younger than the query: others may be dead as well.
   */
  private async *attempts(request: Request): AsyncGenerator<Attempt> {
    const { host, hedging } = this
    const { readTimeoutMs } = this.options
    const startMs = host.elapsed()
    const deadlineMs = startMs + Math.max(TOTAL_MS, readTimeoutMs)
    const candidates = this.candidates()
    let hasFailed = false
    for (const target of candidates) {
      const nowMs = host.elapsed()
      const endMs = Math.min(deadlineMs, nowMs + readTimeoutMs)
      if (nowMs >= endMs) return
      const connectionAgeMsMax = hasFailed ? nowMs - startMs : undefined
      const start =
        (one: Target) =>
        async (signal?: AbortSignal): Promise<Attempt> => {
          const response = await one.ask(request, { endMs, signal, connectionAgeMsMax })
          hasFailed ||= typeof response === 'string'
          return { target: one, response }
        }
      if (hedging === undefined) {
        yield await start(target)()
        continue
      }
      const attempts = await hedging.run(start(target), () => {
        const { value: other } = candidates.next()
        return other instanceof Target && other !== target ? start(other) : undefined
      })
      // A dead upstream must not hide behind the other one.
      if (attempts[0]?.target !== target) target.check()
      yield* attempts
    }
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
    if (ordered.length === 0) return
    for (;;) {
      let isAnyUp = false
      for (const target of ordered) {
        if (target.isDown) continue
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
}
