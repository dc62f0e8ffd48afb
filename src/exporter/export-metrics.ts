/**
 * Metrics of the exporter.
 * @module
 */
import type { MetricInfo, Metrics } from '../telemetry/metrics.ts'
import type { ExportSource } from './export-source.ts'
import type { PublishReport } from './publisher.ts'
import type { BuiltSnapshot } from './snapshot-builder.ts'

const PUBLISHES: MetricInfo = {
  name: 'kubedoh_exporter_publishes_total',
  help: 'Manifests that the gateway took, and attempts that failed.',
  labels: ['result'],
}
const OBJECTS: MetricInfo = {
  name: 'kubedoh_exporter_objects',
  help: 'Objects that names come from.',
  labels: ['resource'],
}
const LISTS: MetricInfo = {
  name: 'kubedoh_exporter_lists_total',
  help: 'How often a collection was listed: once, and again after each 410 Gone.',
  labels: ['resource'],
}
const CONNECTED: MetricInfo = {
  name: 'kubedoh_exporter_watch_connected',
  help: 'Whether a watch is open.',
  labels: ['resource'],
}
const UPLOADED: MetricInfo = {
  name: 'kubedoh_exporter_uploaded_bytes_total',
  help: 'Bytes of shards and manifests that were uploaded.',
  labels: [],
}

/** Updates the gauges of the source. */
export function recordSource(metrics: Metrics, source: ExportSource): void {
  for (const { resource, count, lists, isConnected } of source.states()) {
    metrics.gauge(OBJECTS, [resource]).value = count
    metrics.counter(LISTS, [resource]).value = lists
    metrics.gauge(CONNECTED, [resource]).value = isConnected ? 1 : 0
  }
}

/** Counts an attempt to publish; `undefined` is a failed one. */
export function recordPublished(
  metrics: Metrics,
  outcome:
    | {
        readonly built: BuiltSnapshot
        readonly report: PublishReport | undefined
        readonly confirmedMs: number
      }
    | undefined,
): void {
  if (outcome === undefined) {
    metrics.counter(PUBLISHES, ['failed']).value++
    return
  }
  const { built, report, confirmedMs } = outcome
  gauge(metrics, 'records', 'Records of the snapshot.', built.records)
  gauge(metrics, 'shards', 'Shards of the snapshot.', built.shards.length)
  gauge(metrics, 'unnamed_objects', 'Things that DNS cannot name.', built.warnings.length)
  gauge(
    metrics,
    'confirmed_timestamp_seconds',
    'When the published names were last known to be right.',
    confirmedMs / 1000,
  )
  if (report === undefined) return
  metrics.counter(PUBLISHES, ['stored']).value++
  metrics.counter(UPLOADED).value += report.shardBytes + report.manifestBytes
  gauge(metrics, 'generation', 'Generation of the snapshot.', report.generation)
}

function gauge(metrics: Metrics, name: string, help: string, value: number): void {
  metrics.gauge({ name: `kubedoh_exporter_${name}`, help, labels: [] }).value = value
}
