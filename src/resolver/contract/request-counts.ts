/**
 * CoreDNS's metrics of requests: count, size, duration and response code.
 * @module
 */
import { hasIPv6Form } from '../../dns/names/address.ts'
import { formatRcode, RCODE } from '../../dns/names/rcode.ts'
import { formatType, TYPE } from '../../dns/names/rr-type.ts'
import {
  bucketOf,
  type HistogramSeries,
  type Metrics,
  metricInfo,
  type Series,
} from '../../dns/telemetry/metrics.ts'
import type { Client } from './client.ts'
import type { Observation } from './observation.ts'
import type { ServerAddress } from './server-address.ts'

const DURATION_BOUNDS = Array.from({ length: 16 }, (_, i) => 0.00025 * 2 ** i)
const SIZE_BOUNDS = [0, 100, 200, 300, 400, 511, 1023, 2047, 4095, 8291, 16e3, 32e3, 48e3, 64e3]

const REQUESTS = metricInfo(
  'coredns_dns_requests_total',
  'Counter of DNS requests made per zone, protocol and family.',
  'server zone view proto family type',
)
const DNSSEC_REQUESTS = metricInfo(
  'coredns_dns_do_requests_total',
  'Counter of DNS requests with DO bit set per zone.',
  'server zone view',
)
const DURATION = metricInfo(
  'coredns_dns_request_duration_seconds',
  'Histogram of the time (in seconds) each request took per zone. On Cloudflare Workers the ' +
    'clock stands still while code runs, so there it is the time that the request waited.',
  'server zone view',
)
const REQUEST_SIZE = metricInfo(
  'coredns_dns_request_size_bytes',
  'Size of the request in bytes per zone and protocol.',
  'server zone view proto',
)
const RESPONSE_SIZE = metricInfo(
  'coredns_dns_response_size_bytes',
  'Size of the returned response in bytes.',
  'server zone view proto',
)
const RESPONSES = metricInfo(
  'coredns_dns_responses_total',
  'Counter of response status codes.',
  'server zone view rcode plugin',
)

/** Types with series of their own; the rest are `other`, so that clients cannot create series. */
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

/** Types by series index; index 0 is for the rest. */
const TYPE_BY_INDEX: readonly number[] = [0, ...COUNTED_TYPES]
/** Types from here on count as `other`. */
const TYPES_END = 512
/** Series indexes by type. */
const INDEX_BY_TYPE: Uint8Array = Uint8Array.from({ length: TYPES_END }, (_, type) =>
  Math.max(0, TYPE_BY_INDEX.indexOf(type)),
)
/** Most messages are smaller; their buckets are in a table. */
const USUAL_SIZES_END = 1024
const USUAL_BUCKETS: Uint8Array = Uint8Array.from({ length: USUAL_SIZES_END }, (_, size) =>
  bucketOf(SIZE_BOUNDS, size),
)
/** Most responses take less, in milliseconds. */
const USUAL_DURATION_MS = 0.25
const { NOERROR } = RCODE

/** Returns the index of the address that a client's query came to; 0 for an unknown address. */
export function serverIndex(servers: readonly ServerAddress[], { localAddress }: Client): number {
  if (servers.length < 2) return 0
  for (let i = 0; i < servers.length; i++) if (servers[i]?.address === localAddress) return i
  return 0
}

/** The series of requests of one type, protocol and address family. */
type Kind = {
  readonly requests: Series
  readonly requestSizes: HistogramSeries
  readonly responseSizes: HistogramSeries
}

/** The series of one zone of a server; finds each series once. */
export class RequestCounts {
  private readonly metrics: Metrics
  private readonly labels: readonly string[]
  /** Four for each type index: by protocol and family. */
  private readonly kinds: (Kind | undefined)[]
  private readonly responses = new Map<string, (Series | undefined)[]>()
  /** The plugin that answered last: most responses come from the same one. */
  private lastPlugin = ''
  private lastResponses: (Series | undefined)[] = []
  private duration: HistogramSeries | undefined
  private dnssecRequests: Series | undefined

  /** @param labels server, zone and view */
  constructor(metrics: Metrics, labels: readonly string[]) {
    this.metrics = metrics
    this.labels = labels
    this.kinds = Array.from({ length: 4 * TYPE_BY_INDEX.length }, () => undefined)
  }

  /** Counts a request. One without a response counts as NOERROR. */
  count({ query, client, reply, replyBytes, plugin, durationMs }: Observation): void {
    const { type, size } = query
    const index = type < TYPES_END ? (INDEX_BY_TYPE[type] ?? 0) : 0
    const protocol = client.transport === 'udp' ? 0 : 2
    const at = 4 * index + protocol + (hasIPv6Form(client.address) ? 1 : 0)
    const kind = this.kinds[at] ?? this.addKind(at)
    kind.requests.value++
    add(kind.requestSizes, bucketOfSize(size), size)
    add(kind.responseSizes, bucketOfSize(replyBytes), replyBytes)
    if (query.wantsDnssec) this.dnssecSeries().value++
    const seconds = durationMs / 1000
    const isUsual = durationMs <= USUAL_DURATION_MS
    const bucket = isUsual ? 0 : bucketOf(DURATION_BOUNDS, seconds)
    add(this.duration ?? this.addDuration(), bucket, seconds)
    const rcode = replyBytes > 0 ? (reply[3] ?? 0) & 15 : NOERROR
    const byRcode = plugin === this.lastPlugin ? this.lastResponses : this.responsesOf(plugin)
    const responses = byRcode[rcode] ?? this.addResponses(byRcode, rcode, plugin)
    responses.value++
  }

  private addKind(at: number): Kind {
    const type = TYPE_BY_INDEX[at >>> 2] ?? 0
    const protocol = (at & 2) === 0 ? 'udp' : 'tcp'
    const family = (at & 1) === 0 ? '1' : '2'
    const labels = [...this.labels, protocol]
    const values = [...labels, family, type === 0 ? 'other' : formatType(type)]
    const kind = {
      requests: this.metrics.counter(REQUESTS, values),
      requestSizes: this.metrics.histogram(REQUEST_SIZE, SIZE_BOUNDS, labels),
      responseSizes: this.metrics.histogram(RESPONSE_SIZE, SIZE_BOUNDS, labels),
    }
    this.kinds[at] = kind
    return kind
  }

  private addDuration(): HistogramSeries {
    this.duration = this.metrics.histogram(DURATION, DURATION_BOUNDS, this.labels)
    return this.duration
  }

  private dnssecSeries(): Series {
    this.dnssecRequests ??= this.metrics.counter(DNSSEC_REQUESTS, this.labels)
    return this.dnssecRequests
  }

  private responsesOf(plugin: string): (Series | undefined)[] {
    const byRcode = this.responses.get(plugin) ?? Array.from({ length: 16 }, () => undefined)
    this.responses.set(plugin, byRcode)
    this.lastPlugin = plugin
    this.lastResponses = byRcode
    return byRcode
  }

  private addResponses(byRcode: (Series | undefined)[], rcode: number, plugin: string): Series {
    const series = this.metrics.counter(RESPONSES, [...this.labels, formatRcode(rcode), plugin])
    byRcode[rcode] = series
    return series
  }
}

/** Adds a value to a histogram whose bucket is known. */
const add = (series: HistogramSeries, bucket: number, value: number): void => {
  const { counts } = series
  counts[bucket] = (counts[bucket] ?? 0) + 1
  series.sum += value
}

const bucketOfSize = (size: number): number =>
  size < USUAL_SIZES_END ? (USUAL_BUCKETS[size] ?? 0) : bucketOf(SIZE_BOUNDS, size)
