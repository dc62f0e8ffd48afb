/**
 * Metrics of the exporter.
 * @module
 */

import type { ExportSource } from '../cluster/follow/export-source.ts'
import { PROGRAMMING_BOUNDS } from '../cluster/follow/programming-latency.ts'
import type { BuiltSnapshot } from '../cluster/follow/snapshot-builder.ts'
import { type Metrics, metricInfo, observe } from '../dns/telemetry/metrics.ts'
import type { PublishReport } from './publisher.ts'

const PUBLISHES = metricInfo(
  'kubedoh_exporter_publishes_total',
  'Manifests that the gateway took, and attempts that failed.',
  'result',
)
const OBJECTS = metricInfo('kubedoh_exporter_objects', 'Objects that names come from.', 'resource')
const INVALID = metricInfo(
  'kubedoh_exporter_invalid_objects',
  'Objects that cannot be parsed; they have no names.',
  'resource',
)
const LISTS = metricInfo(
  'kubedoh_exporter_lists_total',
  'How often a collection was listed: once, again each hour, and after each 410 Gone.',
  'resource',
)
const MISSED = metricInfo(
  'kubedoh_exporter_missed_changes_total',
  'Changes that a watch should have reported, found by a later list.',
  'resource',
)
const CONNECTED = metricInfo(
  'kubedoh_exporter_watch_connected',
  'Whether a watch is open.',
  'resource',
)
const AVAILABLE = metricInfo(
  'kubedoh_exporter_kind_available',
  'Whether the API server serves a kind and the role may read it.',
  'resource',
)
const UPLOADED = metricInfo(
  'kubedoh_exporter_uploaded_bytes_total',
  'Bytes of shards and manifests that were uploaded.',
)
const ACKNOWLEDGED = metricInfo(
  'kubedoh_exporter_acknowledged_duration_seconds',
  'Time from the oldest change that a publication has until the gateway took it.',
)
const RECORDS = metricInfo('kubedoh_exporter_records', 'Records of the snapshot.')
const SHARDS = metricInfo('kubedoh_exporter_shards', 'Shards of the snapshot.')
const UNNAMED = metricInfo('kubedoh_exporter_unnamed_objects', 'Things that DNS cannot name.')
const CONFLICTS = metricInfo(
  'kubedoh_exporter_host_conflicts',
  'Hostnames that objects of several namespaces claim.',
)
const CONFIRMED = metricInfo(
  'kubedoh_exporter_confirmed_timestamp_seconds',
  'When the published names were last known to be right.',
)
const GENERATION = metricInfo('kubedoh_exporter_generation', 'Generation of the snapshot.')

/** An accepted publication; the report is `undefined` if the gateway had all of it. */
type Published = {
  readonly built: BuiltSnapshot
  readonly report: PublishReport | undefined
  readonly confirmedMs: number
}

/** Updates the gauges of the source. */
export function recordSource(metrics: Metrics, source: ExportSource): void {
  for (const { resource, count, invalid, lists, missed, ...is } of source.states()) {
    metrics.gauge(OBJECTS, [resource]).value = count
    metrics.gauge(INVALID, [resource]).value = invalid
    metrics.counter(LISTS, [resource]).value = lists
    metrics.counter(MISSED, [resource]).value = missed
    metrics.gauge(CONNECTED, [resource]).value = is.isConnected ? 1 : 0
    metrics.gauge(AVAILABLE, [resource]).value = is.isAvailable ? 1 : 0
  }
}

/** Updates the gauges of the keys of an etcd. */
export function recordKeys(metrics: Metrics, count: number, invalid: number): void {
  metrics.gauge(OBJECTS, ['etcd']).value = count
  metrics.gauge(INVALID, ['etcd']).value = invalid
}

/** Updates the gauge of the watches of an etcd. */
export function recordKeysConnected(metrics: Metrics, isConnected: boolean): void {
  metrics.gauge(CONNECTED, ['etcd']).value = isConnected ? 1 : 0
}

/** Counts an attempt to publish; `undefined` is a failed one. */
export function recordPublished(metrics: Metrics, outcome: Published | undefined): void {
  if (outcome === undefined) {
    metrics.counter(PUBLISHES, ['failed']).value++
    return
  }
  const { built, report, confirmedMs } = outcome
  metrics.gauge(RECORDS).value = built.records
  metrics.gauge(SHARDS).value = built.shards.length
  metrics.gauge(UNNAMED).value = built.warnings.length
  metrics.gauge(CONFLICTS).value = built.conflicts?.length ?? 0
  metrics.gauge(CONFIRMED).value = confirmedMs / 1000
  if (report === undefined) return
  metrics.counter(PUBLISHES, ['stored']).value++
  metrics.counter(UPLOADED).value += report.shardBytes + report.manifestBytes
  metrics.gauge(GENERATION).value = report.generation
}

/** Records how long a change took from the exporter's watch to the gateway's acknowledgement. */
export function recordAcknowledged(metrics: Metrics, seconds: number): void {
  observe(metrics.histogram(ACKNOWLEDGED, PROGRAMMING_BOUNDS), PROGRAMMING_BOUNDS, seconds)
}
