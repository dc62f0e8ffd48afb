/**
 * One upstream of a `forward` directive: its connections and its health.
 * @module
 */

import { type Host, OverloadError, type Upstream, type UpstreamClient } from '../../chain/host.ts'
import type { UpstreamExchange } from '../../chain/observation.ts'
import type { Request } from '../../chain/request.ts'
import type { Response } from '../../dns/message.ts'
import { formatRcode } from '../../dns/rcode.ts'
import { observe } from '../../telemetry/metrics.ts'
import { restoreCase, withRandomCase } from './letter-case.ts'
import type { ForwardOptions } from './options.ts'
import { reasonOf } from './reason.ts'
import { UpstreamHealth } from './upstream-health.ts'
import { readResponse, upstreamQuery } from './upstream-query.ts'
import { upstreamName } from './upstreams.ts'

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
const CONNECTION_MISSES = {
  name: 'coredns_proxy_conn_cache_misses_total',
  help: 'Counter of connection cache misses per upstream and protocol.',
  labels: CONNECTION_LABELS,
}
const CASE_MISMATCHES = {
  name: 'kubedoh_forward_case_mismatches_total',
  help: 'UDP responses that were dropped because their question has another letter case.',
  labels: ['to'],
}

/** The reason for a failure that says nothing about the upstream. */
export const OVERLOADED = 'too many queries under way'

/** What an upstream needs of its directive and server block. */
type Parts = {
  readonly options: ForwardOptions
  readonly host: Host
  /** Observes each query to an upstream. */
  readonly observeExchange: (exchange: UpstreamExchange) => void
}

/** Bounds of one query. */
type Limits = {
  /** When it ends, by the monotonic clock. */
  readonly endMs: number
  /** Ends it early. */
  readonly signal: AbortSignal | undefined
  /** Maximum age of a connection that it reuses; `undefined` for any. */
  readonly connectionAgeMsMax: number | undefined
}

type Sent = Limits & { readonly request: Request; readonly query: Uint8Array }

/** One upstream. */
export class Target {
  /** The name in metrics and messages. */
  readonly name: string
  private readonly upstream: Upstream
  private readonly client: UpstreamClient
  private readonly health: UpstreamHealth
  private readonly parts: Parts

  /** @throws {Error} when this runtime does not support the upstream or its options */
  constructor(upstream: Upstream, parts: Parts) {
    const { options, host } = parts
    const name = upstreamName(upstream)
    const client = host.openUpstream(upstream, {
      ...options.connections,
      onConnection: (protocol, isReused) => {
        const labels = ['forward', name, protocol]
        host.metrics.counter(isReused ? CONNECTION_HITS : CONNECTION_MISSES, labels).value++
      },
    })
    this.name = name
    this.upstream = upstream
    this.client = client
    this.health = new UpstreamHealth({ name, client, options, host })
    this.parts = parts
  }

  /** Whether queries avoid it because its health checks fail. */
  get isDown(): boolean {
    return this.health.isDown
  }

  /** Starts health checks unless they run. */
  check(): void {
    this.health.noteFailure()
  }

  /** Ends all health checks and closes all connections. */
  stop(): void {
    this.health.stop()
    this.client.close()
  }

  /**
   * Sends a request's query. Resolves with the response, or with the reason for a failure. With
   * `prefer_udp`, repeats a query with a truncated response over TCP.
   */
  async ask(request: Request, limits: Limits): Promise<Response | string> {
    const response = await this.query(request, limits)
    if (typeof response !== 'string') this.health.noteAnswer()
    else if (response !== OVERLOADED && limits.signal?.aborted !== true) this.check()
    return response
  }

  private async query(request: Request, limits: Limits): Promise<Response | string> {
    const { name, upstream } = this
    const { host, options } = this.parts
    const { protocol } = options
    const clientProtocol = request.client.transport === 'udp' ? 'udp' : 'tcp'
    const first = protocol === 'as-client' ? clientProtocol : protocol
    const query = upstreamQuery(request, host.random16(), upstream.transport)
    const startMs = host.elapsed()
    const sent = { ...limits, request, query }
    try {
      let response = await this.exchange(sent, first)
      const isCut = response !== 'forged' && response?.truncated === true && protocol === 'udp'
      if (isCut || response === 'forged') response = await this.exchange(sent, 'tcp')
      if (response === undefined || response === 'forged') {
        return `${name} sent a response that does not match the query`
      }
      const labels = ['forward', name, formatRcode(response.rcode)]
      const series = host.metrics.histogram(DURATION, DURATION_BOUNDS, labels)
      observe(series, DURATION_BOUNDS, (host.elapsed() - startMs) / 1000)
      return response
    } catch (error) {
      return error instanceof OverloadError ? OVERLOADED : reasonOf(name, error)
    }
  }

  /**
   * Sends a query once, and passes it and its response to observing plugins. Resolves with
   * `undefined` for a response to something else, and `forged` for one in another letter case.
   */
  private async exchange(
    { request, query: plain, endMs, signal, connectionAgeMsMax }: Sent,
    protocol: 'udp' | 'tcp',
  ): Promise<Response | 'forged' | undefined> {
    const { address, port, transport } = this.upstream
    const { host, options, observeExchange } = this.parts
    const isUdp = transport === 'dns' && protocol === 'udp'
    const isMixed = isUdp && options.mixesCase
    const query = isMixed ? withRandomCase(plain, host.random16) : plain
    const startMs = host.now()
    let reply: Uint8Array | undefined
    try {
      reply = await this.client.exchange(query, {
        protocol,
        timeoutMs: endMs - host.elapsed(),
        ...(signal && { signal }),
        ...(connectionAgeMsMax !== undefined && { connectionAgeMsMax }),
      })
      if (!isMixed) return readResponse(reply, request)
      const restored = restoreCase(reply, query, plain)
      if (restored !== undefined) return readResponse(restored, request)
      host.metrics.counter(CASE_MISMATCHES, [this.name]).value++
      return 'forged'
    } finally {
      observeExchange({ clientQuery: request, query, startMs, address, port, isUdp, reply })
    }
  }
}
