/**
 * What CoreDNS counts of requests: how many, how large, how long, with what answer.
 * @module
 */
import { hasIPv6Form } from '../dns/address.ts'
import { octet } from '../dns/bytes.ts'
import { formatRcode, RCODE } from '../dns/rcode.ts'
import { formatType, TYPE } from '../dns/rr-type.ts'
import { type HistogramSeries, type Metrics, observe, type Series } from '../telemetry/metrics.ts'
import type { Client, Observation, ServerAddress } from './plugin.ts'

const DURATION_BOUNDS = Array.from({ length: 16 }, (_, i) => 0.00025 * 2 ** i)
const SIZE_BOUNDS = [0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16e3, 32e3, 48e3, 64e3]

const REQUESTS = {
  name: 'coredns_dns_requests_total',
  help: 'Counter of DNS requests made per zone, protocol and family.',
  labels: ['server', 'zone', 'view', 'proto', 'family', 'type'],
}
const DNSSEC_REQUESTS = {
  name: 'coredns_dns_do_requests_total',
  help: 'Counter of DNS requests with DO bit set per zone.',
  labels: ['server', 'zone', 'view'],
}
const DURATION = {
  name: 'coredns_dns_request_duration_seconds',
  help: 'Histogram of the time (in seconds) each request took per zone.',
  labels: ['server', 'zone', 'view'],
}
const REQUEST_SIZE = {
  name: 'coredns_dns_request_size_bytes',
  help: 'Size of the request in bytes per zone and protocol.',
  labels: ['server', 'zone', 'view', 'proto'],
}
const RESPONSE_SIZE = {
  name: 'coredns_dns_response_size_bytes',
  help: 'Size of the returned response in bytes.',
  labels: ['server', 'zone', 'view', 'proto'],
}
const RESPONSES = {
  name: 'coredns_dns_responses_total',
  help: 'Counter of response status codes.',
  labels: ['server', 'zone', 'view', 'rcode', 'plugin'],
}

/** Types that are counted by name; the rest are `other`, so that nobody can make series at will. */
const COUNTED_TYPES: ReadonlySet<number> = new Set([
  TYPE.A,
  TYPE.AAAA,
  TYPE.ANY,
  TYPE.AXFR,
  TYPE.CNAME,
  TYPE.DNSKEY,
  TYPE.DS,
  TYPE.HTTPS,
  TYPE.IXFR,
  TYPE.MX,
  TYPE.NS,
  TYPE.NSEC,
  TYPE.NSEC3,
  TYPE.PTR,
  TYPE.RRSIG,
  TYPE.SOA,
  TYPE.SRV,
  TYPE.SVCB,
  TYPE.TXT,
])

/** The same by number. */
const COUNTED: readonly boolean[] = Array.from({ length: 512 }, (_, type) =>
  COUNTED_TYPES.has(type),
)

/** Finds the address that a client's query came to; the first when it is none of them. */
export function serverIndex(servers: readonly ServerAddress[], { localAddress }: Client): number {
  if (servers.length < 2) return 0
  for (let i = 0; i < servers.length; i++) if (servers[i]?.address === localAddress) return i
  return 0
}

/** The series of one zone of a server, each found once and then a number to add to. */
export class RequestCounts {
  private readonly metrics: Metrics
  private readonly labels: readonly string[]
  private readonly requests: (Series | undefined)[] = []
  private readonly responses = new Map<string, (Series | undefined)[]>()
  /** Those of the plugin that answered last: most answers come from one. */
  private lastPlugin = ''
  private lastResponses: (Series | undefined)[] = []
  private duration: HistogramSeries | undefined
  private readonly udpSizes: Sizes
  private readonly tcpSizes: Sizes
  private dnssecRequests: Series | undefined

  /** @param labels server, zone and view */
  constructor(metrics: Metrics, labels: readonly string[]) {
    this.metrics = metrics
    this.labels = labels
    this.udpSizes = new Sizes(metrics, [...this.labels, 'udp'])
    this.tcpSizes = new Sizes(metrics, [...this.labels, 'tcp'])
  }

  /** Counts a request that was answered; one that got no answer counts as one without error. */
  count({ query, client, reply, replyBytes, plugin, durationMs }: Observation): void {
    const isUdp = client.transport === 'udp'
    this.requestSeries(query.type, isUdp, hasIPv6Form(client.address) ? 2 : 1).value++
    if (query.wantsDnssec) this.dnssecSeries().value++
    this.duration ??= this.metrics.histogram(DURATION, DURATION_BOUNDS, this.labels)
    observe(this.duration, DURATION_BOUNDS, durationMs / 1000)
    const sizes = isUdp ? this.udpSizes : this.tcpSizes
    sizes.count(query.bytes.length, replyBytes)
    const rcode = replyBytes > 0 ? octet(reply, 3) & 15 : RCODE.NOERROR
    this.responseSeries(rcode, plugin).value++
  }

  private requestSeries(type: number, isUdp: boolean, family: number): Series {
    const counted = COUNTED[type] === true ? type : 0
    const key = counted * 4 + family + (isUdp ? 0 : 2)
    const known = this.requests[key]
    if (known !== undefined) return known
    const typeText = counted === 0 ? 'other' : formatType(counted)
    const values = [...this.labels, isUdp ? 'udp' : 'tcp', String(family), typeText]
    const series = this.metrics.counter(REQUESTS, values)
    this.requests[key] = series
    return series
  }

  private dnssecSeries(): Series {
    this.dnssecRequests ??= this.metrics.counter(DNSSEC_REQUESTS, this.labels)
    return this.dnssecRequests
  }

  private responsesOf(plugin: string): (Series | undefined)[] {
    const byRcode = this.responses.get(plugin) ?? []
    this.responses.set(plugin, byRcode)
    this.lastPlugin = plugin
    this.lastResponses = byRcode
    return byRcode
  }

  private responseSeries(rcode: number, plugin: string): Series {
    const byRcode = plugin === this.lastPlugin ? this.lastResponses : this.responsesOf(plugin)
    const known = byRcode[rcode]
    if (known !== undefined) return known
    const series = this.metrics.counter(RESPONSES, [...this.labels, formatRcode(rcode), plugin])
    byRcode[rcode] = series
    return series
  }
}

/** Sizes of messages over one protocol; the series are made with the first of them. */
class Sizes {
  private readonly metrics: Metrics
  private readonly labels: readonly string[]
  private requests: HistogramSeries | undefined
  private responses: HistogramSeries | undefined

  constructor(metrics: Metrics, labels: readonly string[]) {
    this.metrics = metrics
    this.labels = labels
  }

  count(requestBytes: number, replyBytes: number): void {
    this.requests ??= this.metrics.histogram(REQUEST_SIZE, SIZE_BOUNDS, this.labels)
    this.responses ??= this.metrics.histogram(RESPONSE_SIZE, SIZE_BOUNDS, this.labels)
    observe(this.requests, SIZE_BOUNDS, requestBytes)
    observe(this.responses, SIZE_BOUNDS, replyBytes)
  }
}
