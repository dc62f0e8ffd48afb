/**
 * For each alert: series that fire it, its text, and series of a healthy system, some of
 * them just below the limit.
 * @module
 */

/** Samples a minute apart, in promtool's notation, by series. */
type SeriesTexts = Readonly<Record<string, string>>

/** A case of one alert. */
export type AlertCase = {
  readonly alert: string
  readonly severity: 'critical' | 'warning'
  readonly component: 'server' | 'exporter' | 'gateway' | 'node-cache'
  readonly series: SeriesTexts
  /** Minutes after which the alert fires, but not a minute sooner. */
  readonly minutes: number
  readonly labels?: Readonly<Record<string, string>>
  readonly description: string
}

const buckets = (metric: string, labels: string, seconds: number): SeriesTexts => ({
  [`${metric}_bucket{${labels},le="${seconds / 2}"}`]: '0+0x99',
  [`${metric}_bucket{${labels},le="${seconds}"}`]: '0+600x99',
  [`${metric}_bucket{${labels},le="+Inf"}`]: '0+600x99',
})
const RESPONSES = 'coredns_dns_responses_total'
const FORWARDED = 'coredns_proxy_request_duration_seconds_count'
const responses = (metric: string, labels: string, servfail: number): SeriesTexts => ({
  [`${metric}{${labels},rcode="NOERROR"}`]: `0+${1000 - servfail}x99`,
  [`${metric}{${labels},rcode="SERVFAIL"}`]: `0+${servfail}x99`,
})
const ZONE = 'server="dns://:53",zone="."'
const UPSTREAM = 'proxy_name="forward",to="192.0.2.53:53"'
const TO = { to: '192.0.2.53:53' }

/** At least one case of each alert and severity. */
export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: 'CoreDNSDown',
    severity: 'critical',
    component: 'server',
    series: { up: '0x99' },
    minutes: 15,
    description: 'Look for its pods, and for its target in Prometheus.',
  },
  {
    alert: 'CoreDNSLatencyHigh',
    severity: 'critical',
    component: 'server',
    series: buckets('coredns_dns_request_duration_seconds', ZONE, 8),
    minutes: 11,
    labels: { server: 'dns://:53', zone: '.' },
    description: 'The 99th percentile is 7.96s at dns://:53, zone ..',
  },
  {
    alert: 'CoreDNSErrorsHigh',
    severity: 'warning',
    component: 'server',
    series: responses(RESPONSES, ZONE, 20),
    minutes: 6,
    description: '2% of responses are SERVFAIL.',
  },
  {
    alert: 'CoreDNSErrorsHigh',
    severity: 'critical',
    component: 'server',
    series: responses(RESPONSES, ZONE, 40),
    minutes: 11,
    description: '4% of responses are SERVFAIL.',
  },
  {
    alert: 'CoreDNSPanicking',
    severity: 'warning',
    component: 'server',
    series: { coredns_panics_total: '0x20 1x20' },
    minutes: 21,
    description: 'one answered SERVFAIL; its log has the error.',
    labels: { instance: 'one' },
  },
  {
    alert: 'CoreDNSHealthCheckSlow',
    severity: 'warning',
    component: 'server',
    series: buckets('coredns_health_request_duration_seconds', 'a="b"', 2),
    minutes: 6,
    labels: { instance: 'one' },
    description: 'one takes 1.95s for /health.',
  },
  {
    alert: 'CoreDNSForwardLatencyHigh',
    severity: 'critical',
    component: 'server',
    series: buckets('coredns_proxy_request_duration_seconds', UPSTREAM, 8),
    minutes: 11,
    labels: TO,
    description: 'The 99th percentile of 192.0.2.53:53 is 7.96s.',
  },
  {
    alert: 'CoreDNSForwardErrorsHigh',
    severity: 'warning',
    component: 'server',
    series: responses(FORWARDED, UPSTREAM, 20),
    minutes: 11,
    labels: TO,
    description: '2% of the responses of 192.0.2.53:53 are SERVFAIL.',
  },
  {
    alert: 'CoreDNSForwardErrorsHigh',
    severity: 'critical',
    component: 'server',
    series: responses(FORWARDED, UPSTREAM, 40),
    minutes: 11,
    labels: TO,
    description: '4% of the responses of 192.0.2.53:53 are SERVFAIL.',
  },
  {
    alert: 'CoreDNSForwardHealthcheckFailureCount',
    severity: 'warning',
    component: 'server',
    series: { [`coredns_proxy_healthcheck_failures_total{${UPSTREAM}}`]: '0+1x99' },
    minutes: 11,
    labels: TO,
    description: '192.0.2.53:53 does not answer.',
  },
  {
    alert: 'CoreDNSForwardHealthcheckBrokenCount',
    severity: 'warning',
    component: 'server',
    series: { coredns_forward_healthcheck_broken_total: '0+1x99' },
    minutes: 11,
    description: 'External names are asked of upstreams that seem dead.',
  },
  {
    alert: 'KubedohCorefileRefused',
    severity: 'warning',
    component: 'server',
    series: { coredns_reload_failed_total: '0x20 1x30' },
    minutes: 21,
    labels: { instance: 'one' },
    description: 'one still uses the previous one; `kubedoh check` and its log have the reason.',
  },
  {
    alert: 'KubedohServerKindUnavailable',
    severity: 'warning',
    component: 'server',
    series: { 'kubedoh_kubernetes_kind_available{resource="serviceimports"}': '0x99' },
    minutes: 10,
    labels: { resource: 'serviceimports' },
    description:
      'The API server does not serve serviceimports, or the role may not read them; `/ready` has the reason.',
  },
  {
    alert: 'KubedohQueriesDropped',
    severity: 'warning',
    component: 'server',
    series: { 'kubedoh_udp_dropped_total{address="0.0.0.0:53"}': '0+1x99' },
    minutes: 11,
    labels: { instance: 'one' },
    description: 'one is too slow for its queries: add replicas, or raise net.core.rmem_max.',
  },
  {
    alert: 'KubedohExporterDown',
    severity: 'critical',
    component: 'exporter',
    series: { up: '0x99' },
    minutes: 5,
    description: "Without one the gateway's names grow stale; after 24 hours it answers SERVFAIL.",
  },
  {
    alert: 'KubedohExporterWithoutLeader',
    severity: 'critical',
    component: 'exporter',
    series: {
      'leader_election_master_status{name="a"}': '1x20 0x20',
      'leader_election_master_status{name="b"}': '0x40',
    },
    minutes: 22,
    description: 'Nothing is published. Their logs have the reason.',
  },
  {
    alert: 'KubedohPublishFailing',
    severity: 'critical',
    component: 'exporter',
    series: {
      'kubedoh_exporter_publishes_total{result="stored"}': '0+4x20 80x40',
      'kubedoh_exporter_publishes_total{result="failed"}': '0x20 0+2x40',
    },
    minutes: 27,
    description:
      'It is unavailable, or refuses the token or the key. The log of the exporter has the reason.',
  },
  {
    alert: 'KubedohNamesUnconfirmed',
    severity: 'warning',
    component: 'exporter',
    series: { kubedoh_exporter_confirmed_timestamp_seconds: '600x99' },
    minutes: 14,
    description:
      'The exporter last confirmed them 4m 0s ago: it lost the API server or the gateway.',
  },
  {
    alert: 'KubedohExporterWatchClosed',
    severity: 'warning',
    component: 'exporter',
    series: { 'kubedoh_exporter_watch_connected{resource="services"}': '0x99' },
    minutes: 5,
    labels: { instance: 'one', resource: 'services' },
    description: 'one has no watch of services; its log has the reason.',
  },
  {
    alert: 'KubedohExporterKindUnavailable',
    severity: 'warning',
    component: 'exporter',
    series: { 'kubedoh_exporter_kind_available{resource="ingresses"}': '0x99' },
    minutes: 15,
    labels: { resource: 'ingresses' },
    description:
      'The API server does not serve ingresses, or the ClusterRole lacks a rule; the log has it.',
  },
  {
    alert: 'KubedohExporterMissedChanges',
    severity: 'warning',
    component: 'exporter',
    series: { 'kubedoh_exporter_missed_changes_total{resource="services"}': '0x60 2x30' },
    minutes: 61,
    labels: { resource: 'services' },
    description:
      'The hourly list of services found them: look for a proxy or a load balancer that breaks watches.',
  },
  {
    alert: 'KubedohHostConflicts',
    severity: 'warning',
    component: 'exporter',
    series: { kubedoh_exporter_host_conflicts: '2x99' },
    minutes: 15,
    description: '2 hostnames: the oldest object has each. Events of the objects name the others.',
  },
  {
    alert: 'KubedohGatewayDown',
    severity: 'critical',
    component: 'gateway',
    series: { up: '0x99' },
    minutes: 5,
    description: 'It is down, or refuses the token of the scrape.',
  },
  {
    alert: 'KubedohSnapshotStale',
    severity: 'warning',
    component: 'gateway',
    series: { 'kubedoh_snapshot_age_seconds{cluster="prod"}': '0+60x30' },
    minutes: 4,
    labels: { cluster: 'prod' },
    description: 'Nobody confirmed those of prod for 4m 0s: look at its exporters.',
  },
  {
    alert: 'KubedohSnapshotStale',
    severity: 'critical',
    component: 'gateway',
    series: { 'kubedoh_snapshot_age_seconds{cluster="prod"}': '0+60x90' },
    minutes: 61,
    labels: { cluster: 'prod' },
    description: 'Nobody confirmed those of prod for 1h 1m 0s: look at its exporters.',
  },
  {
    alert: 'KubedohSnapshotEmpty',
    severity: 'critical',
    component: 'gateway',
    series: { 'kubedoh_snapshot_records{cluster="prod"}': '0x99' },
    minutes: 5,
    labels: { cluster: 'prod' },
    description: 'The exporter of prod published none: look at its rights, and at its Corefile.',
  },
  {
    alert: 'KubedohGatewayPanicking',
    severity: 'warning',
    component: 'gateway',
    series: { coredns_panics_total: '0x20 1x20' },
    minutes: 21,
    labels: { instance: 'one' },
    description: 'one answered SERVFAIL; its log has the error.',
  },
  {
    alert: 'NodeLocalDNSMetricsDown',
    severity: 'critical',
    component: 'node-cache',
    series: { up: '0x99' },
    minutes: 5,
    description: 'Look for the pods of the DaemonSet.',
  },
  {
    alert: 'NodeLocalDNSSetupErrorsHigh',
    severity: 'critical',
    component: 'node-cache',
    series: { 'coredns_nodecache_setup_errors_total{errortype="iptables"}': '0+1x99' },
    minutes: 11,
    labels: { errortype: 'iptables', instance: 'one' },
    description: 'one fails at iptables; its log has the reason.',
  },
]

/** Series of components in which nothing is wrong. */
export const HEALTHY: Readonly<Record<AlertCase['component'], SeriesTexts>> = {
  server: {
    up: '1x99',
    ...buckets('coredns_dns_request_duration_seconds', ZONE, 4),
    ...responses(RESPONSES, ZONE, 9),
    coredns_panics_total: '3x99',
    ...buckets('coredns_health_request_duration_seconds', 'a="b"', 1),
    ...buckets('coredns_proxy_request_duration_seconds', UPSTREAM, 4),
    ...responses(FORWARDED, UPSTREAM, 9),
    [`coredns_proxy_healthcheck_failures_total{${UPSTREAM}}`]: '5x99',
    coredns_forward_healthcheck_broken_total: '5x99',
    coredns_reload_failed_total: '1x99',
    'kubedoh_kubernetes_kind_available{resource="serviceimports"}': '0x9 1x90',
    'kubedoh_udp_dropped_total{address="0.0.0.0:53"}': '7x99',
  },
  exporter: {
    up: '1x99',
    'leader_election_master_status{name="a"}': '1x40 0x59',
    'leader_election_master_status{name="b"}': '0x40 1x59',
    'kubedoh_exporter_publishes_total{result="stored"}': '0+4x99',
    'kubedoh_exporter_publishes_total{result="failed"}': '0+1x99',
    kubedoh_exporter_confirmed_timestamp_seconds: '0+60x99',
    'kubedoh_exporter_watch_connected{resource="services"}': '1x30 0x4 1x65',
    'kubedoh_exporter_kind_available{resource="ingresses"}': '0x14 1x85',
    'kubedoh_exporter_missed_changes_total{resource="services"}': '1x99',
    kubedoh_exporter_host_conflicts: '1x14 0x85',
  },
  gateway: {
    up: '1x99',
    'kubedoh_snapshot_age_seconds{cluster="prod"}': '15+15x3 60x95',
    'kubedoh_snapshot_records{cluster="prod"}': '1x99',
    coredns_panics_total: '3x99',
  },
  'node-cache': {
    up: '1x99',
    'coredns_nodecache_setup_errors_total{errortype="iptables"}': '2x99',
  },
}
