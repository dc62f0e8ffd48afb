/**
 * The `forward` plugin: relays queries to upstreams, the next one when one fails.
 * @module
 */
import { EXTENDED_ERROR, extendedError, OPTION } from '../../dns/edns.ts'
import { parseResponse, type Reply, type Response } from '../../dns/message.ts'
import { equalNames, isSubdomain, nameKey, nameOf } from '../../dns/name.ts'
import { FLAG } from '../../dns/query.ts'
import { formatRcode, RCODE } from '../../dns/rcode.ts'
import { writeQuery } from '../../dns/write-query.ts'
import { observe } from '../../telemetry/metrics.ts'
import type { Host } from '../host.ts'
import {
  failure,
  type MaybePromise,
  type Outcome,
  type Request,
  type Setup,
  type View,
} from '../plugin.ts'
import { type ForwardOptions, parseForward } from './options.ts'
import { UpstreamHealth, upstreamName } from './upstream-health.ts'

/** Time for one upstream, and for all of them: clients give up after five seconds. */
const TRY_MS = 2000
const TOTAL_MS = 4000

const DURATION = {
  name: 'coredns_proxy_request_duration_seconds',
  help: 'Histogram of the time each request took.',
  labels: ['proxy_name', 'to', 'rcode'],
}
const DURATION_BOUNDS: readonly number[] = Array.from({ length: 16 }, (_, i) => 0.00025 * 2 ** i)

/** Configures `forward FROM TO… { … }`, as often as there are upstreams for different zones. */
export const setupForward: Setup = (directives, { host, zones }) => ({
  plugins: directives.map((directive) => {
    const options = parseForward(directive, host.readText)
    const forward = new Forward(options, host)
    return {
      name: 'forward',
      stop: () => {
        forward.stop()
      },
      serve: (request, next) => {
        const { view } = request.client
        const isAllowed = view === undefined || view.mayRecurse || isOpenTo(view, zones)
        return isAllowed && forward.takes(request) ? forward.serve(request) : next(request)
      },
    }
  }),
})

/** Names by which browsers find out whether a server answers (Chromium, Firefox). */
const PROBES: readonly Uint8Array[] = ['www.gstatic.com', 'example.com'].map(nameOf)

/**
 * Whether who may not have everything asked elsewhere may have this block's names asked: those of
 * an operator's own zone that the view has, and those by which browsers judge a server.
 */
function isOpenTo(view: View, zones: readonly Uint8Array[]): boolean {
  return zones.every((zone) => {
    if (PROBES.some((probe) => equalNames(probe, zone))) return true
    return zone.length > 1 && view.seesOrigin(undefined, zone)
  })
}

class Forward {
  private readonly options: ForwardOptions
  private readonly host: Host
  private readonly upstreams: readonly UpstreamHealth[]
  /** Queries under way, by question: the same question is not asked twice at a time. */
  private readonly pending = new Map<string, Promise<Outcome>>()
  private turn = 0
  private concurrent = 0

  constructor(options: ForwardOptions, host: Host) {
    this.options = options
    this.host = host
    this.upstreams = options.upstreams.map((one) => new UpstreamHealth(one, options, host))
  }

  takes({ lowerName }: Request): boolean {
    const { from, except } = this.options
    if (!isSubdomain(lowerName, from)) return false
    return equalNames(lowerName, from) || !except.some((zone) => isSubdomain(lowerName, zone))
  }

  serve(request: Request): MaybePromise<Outcome> {
    const key = pendingKey(request)
    const known = this.pending.get(key)
    if (known !== undefined && !this.host.isolatesRequests) return known
    const { concurrentMax } = this.options
    if (concurrentMax > 0 && this.concurrent >= concurrentMax) {
      this.counter('max_concurrent_rejects_total', 'Counter of rejected concurrent queries.')
      return failure(RCODE.REFUSED, `over ${concurrentMax} queries at a time`)
    }
    this.concurrent++
    const outcome = this.ask(request).finally(() => {
      this.concurrent--
      this.pending.delete(key)
    })
    this.pending.set(key, outcome)
    return outcome
  }

  stop(): void {
    for (const upstream of this.upstreams) upstream.stop()
  }

  private async ask(request: Request): Promise<Outcome> {
    const deadlineMs = this.host.now() + TOTAL_MS
    let reason = 'no healthy upstream'
    for (const upstream of this.candidates()) {
      const leftMs = deadlineMs - this.host.now()
      if (leftMs <= 0) break
      const result = await this.tryUpstream(upstream, request, Math.min(TRY_MS, leftMs))
      if (typeof result !== 'string') {
        upstream.noteAnswer()
        return result
      }
      reason = result
      upstream.noteFailure()
    }
    const option = extendedError(EXTENDED_ERROR.NO_REACHABLE_AUTHORITY, 'no upstream answered')
    return failure(RCODE.SERVFAIL, reason, [option])
  }

  /** Upstreams in the policy's order, those that are down last; two rounds, as the time allows. */
  private candidates(): UpstreamHealth[] {
    const ordered = this.ordered()
    const up = ordered.filter(({ isDown }) => !isDown)
    if (up.length > 0) return [...up, ...up]
    this.counter('healthcheck_broken_total', 'Counter of the number of complete failures.')
    return this.options.failsFast ? [] : ordered
  }

  private ordered(): UpstreamHealth[] {
    const { length } = this.upstreams
    const rotate = (by: number): UpstreamHealth[] => [
      ...this.upstreams.slice(by),
      ...this.upstreams.slice(0, by),
    ]
    switch (this.options.policy) {
      case 'sequential':
        return rotate(0)
      case 'round_robin':
        return rotate(this.turn++ % length)
      case 'random':
        return rotate(this.host.random16() % length)
    }
  }

  /**
   * Asks one upstream. Returns its reply, or why there is none. A truncated reply counts when the
   * client chose the transport; when UDP was only preferred, TCP is next.
   */
  private async tryUpstream(
    { upstream }: UpstreamHealth,
    request: Request,
    timeoutMs: number,
  ): Promise<Reply | string> {
    const { protocol } = this.options
    const asked = request.client.transport === 'udp' ? 'udp' : 'tcp'
    const message = upstreamQuery(request, this.host.random16())
    const startMs = this.host.now()
    const exchange = async (over: 'udp' | 'tcp'): Promise<Response | undefined> => {
      const leftMs = startMs + timeoutMs - this.host.now()
      const options = { protocol: over, timeoutMs: leftMs }
      return parseResponse(await this.host.exchange(upstream, message, options))
    }
    try {
      let response = await exchange(protocol === 'as-asked' ? asked : protocol)
      if (response?.truncated === true && protocol === 'udp') response = await exchange('tcp')
      if (response === undefined || !matches(response, request)) {
        return `${upstreamName(upstream)} sent what is no answer to the question`
      }
      const rcode = formatRcode(response.rcode)
      const labels = ['forward', upstreamName(upstream), rcode]
      const series = this.host.metrics.histogram(DURATION, DURATION_BOUNDS, labels)
      observe(series, DURATION_BOUNDS, (this.host.now() - startMs) / 1000)
      return relayed(response, request)
    } catch (error) {
      return `${upstreamName(upstream)}: ${error instanceof Error ? error.message : 'failed'}`
    }
  }

  private counter(name: string, help: string): void {
    this.host.metrics.counter({ name: `coredns_forward_${name}`, help, labels: [] }).value++
  }
}

/**
 * EDNS is between neighbours: the OPT record is made anew, with what the client asked of DNSSEC.
 */
function upstreamQuery(
  { query, name, type, class: rrClass, limits: { udpBytes } }: Request,
  id: number,
): Uint8Array {
  return writeQuery({
    name,
    type,
    class: rrClass,
    id,
    flags: query.flags & (FLAG.RD | FLAG.AD | FLAG.CD),
    ...(query.hasEdns ? { udpBytes, wantsDnssec: query.wantsDnssec } : {}),
  })
}

function matches({ question }: Response, { name, type, class: rrClass }: Request): boolean {
  if (question === undefined) return false
  return question.type === type && question.class === rrClass && equalNames(question.name, name)
}

/** Options of the upstream end here, but for what it says of errors (RFC 8914). */
function relayed(response: Response, { query }: Request): Reply {
  const wantsAuthentic = query.wantsDnssec || (query.flags & FLAG.AD) !== 0
  return {
    ...response,
    authenticData: response.authenticData && wantsAuthentic,
    options: response.options.filter(({ code }) => code === OPTION.EXTENDED_ERROR),
  }
}

function pendingKey({ query, lowerName, type, class: rrClass, limits, client }: Request): string {
  const flags = query.flags & (FLAG.RD | FLAG.AD | FLAG.CD)
  const edns = query.hasEdns ? `${limits.udpBytes}${query.wantsDnssec}` : ''
  const transport = client.transport === 'udp' ? 'udp' : 'tcp'
  return `${type} ${rrClass} ${flags} ${edns} ${transport} ${nameKey(lowerName)}`
}
