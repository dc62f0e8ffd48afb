/**
 * A DNS server: opens the sockets of a resolver, and switches to another resolver while it serves.
 * @module
 */

import { type Metrics, metricInfo } from '../../dns/telemetry/metrics.ts'
import { type AnswerResult, Incoming } from '../../resolver/chain/incoming.ts'
import type { Listener } from '../../resolver/chain/listener.ts'
import type { Resolver } from '../../resolver/chain/resolver.ts'
import type { Feature, ProxyHeaders } from '../../resolver/contract/feature.ts'
import { findRuntime } from '../http/fetch-runtime.ts'
import { streamsOf } from '../http/streams.ts'
import { elapsed } from '../node/elapsed.ts'
import { resolveBind } from '../node/local-addresses.ts'
import { NODE_TURNS } from '../node/node-turns.ts'
import type { Answer, UdpAnswers } from '../sockets/answer.ts'
import { ProxyDatagrams, type ProxyDatagramsOptions } from '../sockets/proxy-datagrams.ts'
import type { ProxyGateOptions } from '../sockets/proxy-gate.ts'
import { SlowQueries } from '../sockets/slow-queries.ts'
import { ListenError, Sockets } from '../sockets/sockets.ts'
import { FeatureServers } from './feature-servers.ts'
import { formatMetrics, mergeInSlices } from './process-metrics.ts'

/** Longest wait for queries in flight at the end (CoreDNS, `graceTimeout` in core/dnsserver). */
const DRAIN_MS = 5000
/** Time for queries of connections that were accepted just before a hand-over. */
const HANDOVER_MS = 1000

/** Interval of the checks whether queries still come over UDP; so many without one end them. */
const LINGER_POLL_MS = 500
const QUIET_POLLS = 6

const QUERIES_DROPPED = metricInfo(
  'kubedoh_udp_queries_dropped_total',
  'Queries over UDP dropped because they waited for 2 s or too many waited.',
)
const RESPONSES_DROPPED = metricInfo(
  'kubedoh_udp_responses_dropped_total',
  'Responses over UDP dropped because the network did not take them.',
)

const HEADERS_REFUSED = metricInfo(
  'kubedoh_proxy_headers_refused_total',
  'Connections closed and datagrams dropped because of their PROXY header, or for the lack of one.',
)

type Bound = { readonly sockets: Sockets; listener: Listener; resolver: Resolver }

type DnsServerOptions = {
  /** Whether other threads share the ports and the main thread serves the features. */
  readonly isOneOfMany?: boolean
  /** Whether another process may listen on the same ports, to take over. */
  readonly isReplaceable?: boolean
  /** How long at most to stay because queries still come over UDP; default 0. */
  readonly lingerMs?: number
  /** Returns the metrics of another thread, if there is one. */
  readonly threadMetrics?: () => Promise<string> | undefined
  /** Returns what clusters lack (`ClusterSources.problems`). */
  readonly problems?: () => readonly string[]
}

/** Serves one resolver at a time. */
export class DnsServer {
  private readonly bound = new Map<string, Bound>()
  private readonly features: FeatureServers
  private readonly metrics: Metrics
  private readonly isOneOfMany: boolean
  private readonly isReplaceable: boolean
  private readonly lingerMs: number
  private current: Resolver | undefined
  private isStopping = false
  /** Queries in flight: those whose response was not ready at once. */
  private pending = 0
  /** Messages over UDP so far. */
  private datagrams = 0
  private onDrained: (() => void) | undefined
  private readonly slow: SlowQueries
  private readonly onUnsent: () => void

  /** @param metrics the metrics that `prometheus` publishes */
  constructor(
    metrics: Metrics,
    {
      isOneOfMany = false,
      isReplaceable = false,
      lingerMs = 0,
      threadMetrics = () => undefined,
      problems = () => [],
    }: DnsServerOptions = {},
  ) {
    this.metrics = metrics
    this.slow = new SlowQueries(metrics.counter(QUERIES_DROPPED))
    const unsent = metrics.counter(RESPONSES_DROPPED)
    this.onUnsent = () => void unsent.value++
    this.isOneOfMany = isOneOfMany
    this.isReplaceable = isReplaceable
    this.lingerMs = lingerMs
    const source = {
      metrics,
      format: async () => {
        const own = await formatMetrics(metrics, this.places)
        const others = await threadMetrics()
        return others === undefined ? own : await mergeInSlices([own, others])
      },
      notReady: () => this.notReady(),
      problems,
    }
    this.features = new FeatureServers(source, isReplaceable)
  }

  /** Returns the plugins that are not ready, or the server's own state while it starts or stops. */
  notReady(): readonly string[] {
    return this.isStopping ? ['Shutting down'] : (this.current?.notReady() ?? ['starting'])
  }

  /**
   * Replaces the previous resolver. Sockets that both need stay open, so no query is lost.
   * @throws {ListenError} when it cannot listen on a port; the previous resolver then stays in use
   */
  async serve(resolver: Resolver): Promise<void> {
    const opened = new Map<string, Bound>()
    try {
      const missing = resolver.listeners.filter((one) => !this.isBound(one, resolver))
      for (const listener of missing) await this.makeRoom(listener)
      for (const listener of missing) {
        opened.set(listenerKey(listener), await this.open(listener, resolver))
      }
      if (!this.isOneOfMany) await this.features.apply(resolver.features)
    } catch (error) {
      await Promise.all([...opened.values()].map(({ sockets }) => sockets.close()))
      throw error
    }
    const previous = this.current
    this.current = resolver
    for (const [key, bound] of opened) this.bound.set(key, bound)
    await this.switchTo(resolver)
    resolver.start()
    void previous?.stop()
  }

  /** Ports of the listeners, in the order of the Corefile. */
  get ports(): number[] {
    const listeners = this.current?.listeners ?? []
    return listeners.flatMap((one) => this.bound.get(listenerKey(one))?.sockets.port ?? [])
  }

  private get places(): Listener[] {
    return [...this.bound.values()].map(({ listener, sockets }) => {
      return { ...listener, port: sockets.port }
    })
  }

  /** Makes `/ready` report the shutdown. */
  announceStop(): void {
    this.isStopping = true
  }

  /**
   * Goes on until no query has come over UDP for 3 s, at most `lingerMs`. Then accepts no more
   * connections, and waits until no query is in flight, at most 5 s. New queries over UDP and on
   * open connections are answered meanwhile. A replaceable server does not linger: it leaves those
   * over UDP to the other process, and serves open connections for another second.
   */
  async drain(): Promise<void> {
    if (!this.isReplaceable) await this.linger()
    for (const { sockets } of this.bound.values()) {
      sockets.stopListening()
      if (this.isReplaceable) sockets.handOver()
    }
    if (this.isReplaceable) await new Promise((resolve) => setTimeout(resolve, HANDOVER_MS))
    while (!this.slow.isEmpty) await NODE_TURNS.nextTurn()
    if (this.pending === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, DRAIN_MS)
      this.onDrained = () => {
        clearTimeout(timer)
        // The transport sends the last response first.
        setImmediate(resolve)
      }
    })
  }

  /** Closes all sockets and stops all plugins. */
  async close(): Promise<void> {
    await Promise.all([...this.bound.values()].map(({ sockets }) => sockets.close()))
    await this.features.close()
    await this.current?.stop()
  }

  /**
   * kube-proxy sends clients that use a source port again to this server until it has deleted their
   * conntrack entries: one by one, at 0.4 to 1.6 ms each.
   */
  private async linger(): Promise<void> {
    let pollsLeft = this.lingerMs / LINGER_POLL_MS
    let quietPolls = 0
    let { datagrams } = this
    while (quietPolls < QUIET_POLLS && pollsLeft-- > 0) {
      await new Promise((resolve) => setTimeout(resolve, LINGER_POLL_MS))
      quietPolls = datagrams === this.datagrams ? quietPolls + 1 : 0
      datagrams = this.datagrams
    }
  }

  /** Counts a query in flight until its response is ready. */
  private count<Result extends AnswerResult>(result: Result): Result {
    if (!(result instanceof Promise)) return result
    this.pending++
    const settle = (): void => {
      if (--this.pending === 0) this.onDrained?.()
    }
    void result.then(settle, settle)
    return result
  }

  private async switchTo(resolver: Resolver): Promise<void> {
    const listeners = new Map(resolver.listeners.map((one) => [listenerKey(one), one]))
    for (const [key, bound] of this.bound) {
      const listener = listeners.get(key)
      if (listener === undefined) {
        this.bound.delete(key)
        await bound.sockets.close()
      } else {
        bound.listener = listener
        bound.resolver = resolver
        if (listener.tls !== undefined) bound.sockets.renew(listener.tls)
      }
    }
    await Promise.all([...this.bound.values()].map(({ sockets }) => sockets.updateAddresses()))
  }

  /** Whether a listener has its sockets, and these share their port if they now have to. */
  private isBound(listener: Listener, { listeners }: Resolver): boolean {
    const sockets = this.bound.get(listenerKey(listener))?.sockets
    return sockets !== undefined && (sockets.sharesPort || !this.sharesPort(listener, listeners))
  }

  private sharesPort(listener: Listener, all: readonly Listener[]): boolean {
    return this.isOneOfMany || this.isReplaceable || overlapsOthers(listener, all)
  }

  /** Closes sockets at the same address whose options differ: these cannot change while open. */
  private async makeRoom(listener: Listener): Promise<void> {
    for (const [key, bound] of this.bound) {
      if (placeKey(bound.listener) !== placeKey(listener)) continue
      this.bound.delete(key)
      await bound.sockets.close()
    }
  }

  /**
   * Returns how PROXY headers are read; `undefined` for a listener that reads none.
   * @param current returns from whom they count: that may change while the listener is open
   */
  private proxyOf(
    { proxy }: Listener,
    current: () => ProxyHeaders | undefined,
  ): (ProxyGateOptions & ProxyDatagramsOptions) | undefined {
    if (proxy === undefined) return undefined
    if (findRuntime() !== undefined) {
      throw new ListenError('proxyproto needs Node: Bun and Deno cannot read a header before TLS')
    }
    const refused = this.metrics.counter(HEADERS_REFUSED)
    const headers = (): ProxyHeaders => current() ?? proxy
    return {
      headers,
      policyOf: (address) => headers().policyOf(address),
      onRefused: () => void refused.value++,
      now: elapsed,
    }
  }

  private async open(listener: Listener, resolver: Resolver): Promise<Bound> {
    const incoming = new Incoming()
    const answer: Answer = (message, client, writer) =>
      this.count(bound.resolver.answer(bound.listener, incoming.read(message, client), writer))
    const proxy = this.proxyOf(listener, () => bound.listener.proxy)
    const streams = streamsOf(listener, {
      proxy,
      answer: () => answer,
      bounds: () => bound.listener.bounds,
      metrics: this.metrics,
    })
    const overUdp: UdpAnswers = {
      fast: (message, client, writer) => {
        this.datagrams++
        const { resolver: current, listener: place } = bound
        return current.answerOnFastPath(place, incoming.read(message, client), writer)
      },
      slow: (message, client) => {
        const read = incoming.read(message, client)
        read.waitedMs = this.slow.waitedMs
        return this.count(bound.resolver.answerOnSlowPath(bound.listener, read))
      },
    }
    const datagrams = proxy === undefined ? overUdp : new ProxyDatagrams(overUdp, proxy)
    const sockets = new Sockets(datagrams, streams, {
      queue: this.slow,
      onUnsent: this.onUnsent,
      sharesPort: this.sharesPort(listener, resolver.listeners),
      taken: () =>
        othersAt(bound.listener, bound.resolver.listeners).flatMap(({ addresses, except }) =>
          resolveBind(addresses, except),
        ),
    })
    const bound: Bound = { sockets, listener, resolver }
    await sockets.open(listener)
    return bound
  }
}

/** Returns the longest `lameduck` of all `health` directives, in milliseconds. */
export function lameduckMsOf(features: readonly Feature[]): number {
  return Math.max(0, ...features.map((one) => (one.kind === 'health' ? one.lameduckMs : 0)))
}

/** Returns the other listeners at a listener's port. */
function othersAt(listener: Listener, all: readonly Listener[]): readonly Listener[] {
  return all.filter((one) => one !== listener && one.port === listener.port && one.port !== 0)
}

/**
 * Whether one listener has all addresses of a port and another has some of them: the kernel then
 * gives a connection to the socket that names its address, but only if both share the port.
 */
function overlapsOthers(listener: Listener, all: readonly Listener[]): boolean {
  const isForAll = ({ addresses }: Listener): boolean =>
    addresses.length === 0 || addresses.some((one) => one === '0.0.0.0' || one === '::')
  return othersAt(listener, all).some((one) => isForAll(one) || isForAll(listener))
}

/** Identifies the port and addresses of a listener. */
function placeKey({ transport, port, addresses, except }: Listener): string {
  return [transport, port, ...addresses, '-', ...except].join(' ')
}

/** Identifies a listener by its place and by the options that cannot change while it is open. */
function listenerKey(listener: Listener): string {
  const { tls, httpConnectionsMax, streamsMax, proxy } = listener
  const bounds = [httpConnectionsMax, streamsMax, proxy !== undefined]
  return [placeKey(listener), tls?.clientAuth, ...bounds].join(' ')
}
