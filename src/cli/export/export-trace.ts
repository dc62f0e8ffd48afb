/**
 * The spans of an exporter: its publications, and the lists and watches of its API server.
 * @module
 */
import type { ObjectApi } from '../../cluster/api/object-api.ts'
import { tracedApi } from '../../cluster/api/traced-api.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import type { GatewayClientOptions } from '../../exporter/gateway-client.ts'
import { PublicationTrace } from '../../exporter/publication-trace.ts'
import { createTracer } from '../../server/serve/collector.ts'
import { collectorOf } from '../flags/collector.ts'
import type { Input } from '../flags/flags.ts'

/** What traces an exporter. */
export type ExportTrace = {
  readonly publications: PublicationTrace
  /** Options of the client of the gateway. */
  readonly client: Pick<GatewayClientOptions, 'fetch'>
  readonly around: (api: ObjectApi) => ObjectApi
  /** Sends the spans that wait. */
  readonly stop: () => void
}

/** Creates it, if the environment names a collector. @throws {CommandError} */
export function createExportTrace(input: Input, log: Log): ExportTrace | undefined {
  const collector = collectorOf(input, 'exporter')
  if (collector === undefined) return undefined
  const tracer = createTracer(collector, log)
  const publications = new PublicationTrace(tracer, input.text('cluster'))
  return {
    publications,
    client: { fetch: publications.fetch },
    around: (api) => tracedApi(api, tracer),
    stop: () => tracer.stop(),
  }
}
