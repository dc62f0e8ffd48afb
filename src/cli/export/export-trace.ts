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
  /** Returns options of a client of the gateway whose requests have spans. */
  readonly aroundClient: (options: GatewayClientOptions) => GatewayClientOptions
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
    aroundClient: (options) => ({ ...options, fetch: publications.around(options.fetch) }),
    around: (api) => tracedApi(api, tracer),
    stop: () => tracer.stop(),
  }
}
