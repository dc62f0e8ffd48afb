/**
 * The `prometheus` plugin: counts queries under CoreDNS's metric names, so that its dashboards and
 * alerts go on working.
 * @module
 */
import { checkArgs, checkNoBlock, onlyDirective } from '../corefile/arguments.ts'
import { octet } from '../dns/bytes.ts'
import { formatName } from '../dns/name.ts'
import { formatRcode } from '../dns/rcode.ts'
import { formatType, TYPE } from '../dns/rr-type.ts'
import { type HistogramSeries, type Metrics, observe, type Series } from '../telemetry/metrics.ts'
import type { Observation, Setup } from './plugin.ts'
import { closestZone } from './zones.ts'

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

/** Configures `prometheus [ADDRESS]`; `localhost:9153` when left out. */
export const setupPrometheus: Setup = (directives, { host, zones, server }) => {
  const directive = onlyDirective(directives)
  const [address] = checkArgs(directive, 1)
  checkNoBlock(directive)
  const counts = new Map<string, ZoneCounts>()
  const countsOf = (zone: string): ZoneCounts => {
    const known = counts.get(zone) ?? new ZoneCounts(host.metrics, server, zone)
    counts.set(zone, known)
    return known
  }
  const only = zones.length === 1 ? zones[0] : undefined
  const onlyCounts = only && countsOf(formatName(only))
  return {
    features: [{ kind: 'metrics', address: address?.text ?? 'localhost:9153' }],
    plugins: [
      {
        name: 'prometheus',
        observe: (observation) => {
          const { name, nameBytes } = observation.query
          const zone = onlyCounts ? undefined : closestZone(zones, name.subarray(0, nameBytes))
          const zoneCounts = onlyCounts ?? countsOf(zone === undefined ? '.' : formatName(zone))
          zoneCounts.count(observation)
        },
      },
    ],
  }
}

/** The series of one zone, found once each. */
class ZoneCounts {
  private readonly metrics: Metrics
  private readonly labels: readonly string[]
  private readonly requests = new Map<number, Series>()
  private readonly responses = new Map<string, Series>()
  private readonly sizes = new Map<string, HistogramSeries>()
  private readonly duration: HistogramSeries

  constructor(metrics: Metrics, server: string, zone: string) {
    this.metrics = metrics
    this.labels = [server, zone, '']
    this.duration = metrics.histogram(DURATION, DURATION_BOUNDS, this.labels)
  }

  count({ query, client, reply, plugin, durationMs }: Observation): void {
    const protocol = client.transport === 'udp' ? 'udp' : 'tcp'
    const family = client.address.includes(':') ? 2 : 1
    this.requestSeries(query.type, protocol, family).value++
    if (query.wantsDnssec) this.metrics.counter(DNSSEC_REQUESTS, this.labels).value++
    observe(this.duration, DURATION_BOUNDS, durationMs / 1000)
    const replyBytes = reply?.length ?? 0
    observe(this.sizeSeries(REQUEST_SIZE, protocol), SIZE_BOUNDS, query.bytes.length)
    observe(this.sizeSeries(RESPONSE_SIZE, protocol), SIZE_BOUNDS, replyBytes)
    if (reply !== undefined) this.responseSeries(octet(reply, 3) & 15, plugin).value++
  }

  private requestSeries(type: number, protocol: string, family: number): Series {
    const counted = COUNTED_TYPES.has(type) ? type : 0
    const key = counted * 4 + family + (protocol === 'udp' ? 0 : 2)
    const known = this.requests.get(key)
    if (known !== undefined) return known
    const typeText = counted === 0 ? 'other' : formatType(counted)
    const values = [...this.labels, protocol, String(family), typeText]
    const series = this.metrics.counter(REQUESTS, values)
    this.requests.set(key, series)
    return series
  }

  private responseSeries(rcode: number, plugin: string): Series {
    const key = `${rcode} ${plugin}`
    const known = this.responses.get(key)
    if (known !== undefined) return known
    const series = this.metrics.counter(RESPONSES, [...this.labels, formatRcode(rcode), plugin])
    this.responses.set(key, series)
    return series
  }

  private sizeSeries(info: typeof REQUEST_SIZE, protocol: string): HistogramSeries {
    const key = `${info.name} ${protocol}`
    const known = this.sizes.get(key)
    if (known !== undefined) return known
    const series = this.metrics.histogram(info, SIZE_BOUNDS, [...this.labels, protocol])
    this.sizes.set(key, series)
    return series
  }
}
