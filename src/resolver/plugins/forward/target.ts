/**
 * One upstream of a `forward` directive: its connections and its health.
 * @module
 */

import { formatRcode } from '../../../dns/names/rcode.ts'
import { metricInfo, observe } from '../../../dns/telemetry/metrics.ts'
import type { Response } from '../../../dns/wire/message.ts'
import {
  type Host,
  OverloadError,
  QuestionlessError,
  type Upstream,
  type UpstreamClient,
} from '../../contract/host.ts'
import type { UpstreamExchange } from '../../contract/observation.ts'
import type { Request } from '../../contract/request.ts'
import { countCall, DURATION_BOUNDS } from '../grpc/call-metrics.ts'
import { restoreCase, withRandomCase } from './letter-case.ts'
import type { ForwardOptions } from './options.ts'
import { reasonOf } from './reason.ts'
import { UpstreamHealth } from './upstream-health.ts'
import { readDatagram, readStreamed, type Unreadable, upstreamQuery } from './upstream-query.ts'
import { upstreamName } from './upstreams.ts'

const DURATION = metricInfo(
  'coredns_proxy_request_duration_seconds',
  'Histogram of the time each request took.',
  'proxy_name to rcode',
)
const CONNECTION_LABELS = 'proxy_name to proto'
const CONNECTION_HITS = metricInfo(
  'coredns_proxy_conn_cache_hits_total',
  'Counter of connection cache hits per upstream and protocol.',
  CONNECTION_LABELS,
)
const CONNECTION_MISSES = metricInfo(
  'coredns_proxy_conn_cache_misses_total',
  'Counter of connection cache misses per upstream and protocol.',
  CONNECTION_LABELS,
)
const CASE_MISMATCHES = metricInfo(
  'kubedoh_forward_case_mismatches_total',
  'UDP responses that were dropped because their question has another letter case.',
  'to',
)

const UNREADABLE = metricInfo(
  'kubedoh_forward_unreadable_responses_total',
  'UDP responses that cannot be read, so that their queries were repeated over TCP.',
  'to',
)

/** A response that is of no use. */
type Unusable = {
  readonly kind: 'unusable'
  /** Follows the upstream's name and "sent". */
  readonly why: string
  /** Whether the upstream may have a better one over TCP. */
  readonly mayRepeat: boolean
}

const MISMATCH: Unusable = {
  kind: 'unusable',
  why: 'a response that does not match the query',
  mayRepeat: false,
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
        const labels = [options.plugin, name, protocol]
        host.metrics.counter(isReused ? CONNECTION_HITS : CONNECTION_MISSES, labels).value++
      },
    })
    this.name = name
    this.upstream = upstream
    this.client = client
    this.health = new UpstreamHealth({ name, client, options, host })
    this.parts = parts
  }

  /** Whether an upstream of the same directive is this one. */
  isAt(upstream: Upstream): boolean {
    return JSON.stringify(this.upstream) === JSON.stringify(upstream)
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
    let problem = name
    try {
      let result = await this.exchange(sent, first)
      if (result.kind === 'reply' && result.truncated && protocol === 'udp') {
        result = await this.exchange(sent, 'tcp')
      } else if (result.kind === 'unusable' && result.mayRepeat) {
        problem = `${name} sent ${result.why}; over TCP`
        result = await this.exchange(sent, 'tcp')
      }
      if (result.kind === 'unusable') return `${name} sent ${result.why}`
      const [rcode, seconds] = [formatRcode(result.rcode), (host.elapsed() - startMs) / 1000]
      if (options.plugin === 'grpc') countCall(host.metrics, name, { rcode, seconds })
      else {
        const series = host.metrics.histogram(DURATION, DURATION_BOUNDS, ['forward', name, rcode])
        observe(series, DURATION_BOUNDS, seconds)
      }
      return result
    } catch (error) {
      return error instanceof OverloadError ? OVERLOADED : reasonOf(problem, error)
    }
  }

  /** Sends a query once, and passes it and its response to observing plugins. */
  private async exchange(
    { request, query: plain, endMs, signal, connectionAgeMsMax }: Sent,
    protocol: 'udp' | 'tcp',
  ): Promise<Response | Unusable> {
    const { address, port, transport } = this.upstream
    const { host, options, observeExchange } = this.parts
    const isUdp = transport === 'dns' && protocol === 'udp'
    const query = isUdp && options.mixesCase ? withRandomCase(plain, host.random16) : plain
    const startMs = host.now()
    let reply: Uint8Array | undefined
    try {
      reply = await this.client.exchange(query, {
        protocol,
        timeoutMs: endMs - host.elapsed(),
        ...(signal && { signal }),
        ...(connectionAgeMsMax !== undefined && { connectionAgeMsMax }),
      })
      if (isUdp) return this.readUdp(reply, { request, query, plain })
      const response = readStreamed(reply, request) ?? MISMATCH
      return response.kind === 'unreadable' ? unusable(response) : response
    } catch (error) {
      if (!(error instanceof QuestionlessError)) throw error
      host.metrics.counter(UNREADABLE, [this.name]).value++
      return repeatable('has no question')
    } finally {
      observeExchange({ clientQuery: request, query, startMs, address, port, isUdp, reply })
    }
  }

  private readUdp(
    reply: Uint8Array,
    { request, query, plain }: Pick<Sent, 'request' | 'query'> & { readonly plain: Uint8Array },
  ): Response | Unusable {
    const { metrics } = this.parts.host
    const restored = query === plain ? reply : restoreCase(reply, query, plain)
    if (restored === undefined) {
      metrics.counter(CASE_MISMATCHES, [this.name]).value++
      return repeatable('has another letter case')
    }
    const response = readDatagram(restored, request) ?? MISMATCH
    if (response.kind !== 'unreadable') return response
    metrics.counter(UNREADABLE, [this.name]).value++
    return repeatable(response.why)
  }
}

/** Returns what a response is that is worth a query over TCP. */
function repeatable(why: string): Unusable {
  return { kind: 'unusable', why: `a response that ${why}`, mayRepeat: true }
}

function unusable({ why }: Unreadable): Unusable {
  return { kind: 'unusable', why: `a response that ${why}`, mayRepeat: false }
}
