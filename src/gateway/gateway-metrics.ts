/**
 * Metrics of a gateway, for its clusters.
 * @module
 */
import type { Metrics } from '../telemetry/metrics.ts'
import type { ClusterReader } from './cluster-reader.ts'

/** Formats all metrics, with the age and size of each cluster's snapshot as of now. */
export function formatGatewayMetrics(
  metrics: Metrics,
  readers: ReadonlyMap<string, ClusterReader>,
): string {
  for (const [cluster, reader] of readers) {
    const set = (name: string, help: string, value: number): void => {
      metrics.gauge({ name, help, labels: ['cluster'] }, [cluster]).value = value
    }
    const manifest = reader.describe()
    if (manifest === undefined) continue
    const ageSeconds = reader.ageMs() / 1000
    set('kubedoh_snapshot_age_seconds', 'Seconds since the source confirmed it.', ageSeconds)
    set('kubedoh_snapshot_generation', 'Generation of the snapshot.', manifest.generation)
    set('kubedoh_snapshot_records', 'Records in the snapshot.', manifest.records)
  }
  return metrics.format()
}
