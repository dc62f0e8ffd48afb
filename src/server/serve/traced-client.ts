/**
 * Loads the client of API servers, which is large.
 * @module
 */
import type { ApiConnection, ObjectApi } from '../../cluster/api/object-api.ts'
import { tracedApi } from '../../cluster/api/traced-api.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import { type Collector, createTracer } from './collector.ts'

/** Loads the client, which reports lists and watches to a collector, if there is one. */
export async function loadApiClient(
  collector: Collector | undefined,
  log: Log,
): Promise<(connection: ApiConnection) => ObjectApi> {
  const { openApi } = await import('../../cluster/follow/watch.ts')
  if (collector === undefined) return openApi
  const tracer = createTracer(collector, log)
  return (connection) => tracedApi(openApi(connection), tracer)
}
