/**
 * The collector of spans that OpenTelemetry's environment variables name
 * (opentelemetry.io/docs/specs/otel/protocol/exporter).
 * @module
 */
import { CommandError } from '../../server/node/output.ts'
import type { Collector } from '../../server/serve/collector.ts'
import type { Input } from './flags.ts'

const TRACES_PATH = '/v1/traces'

/**
 * Reads the collector; `undefined` without one.
 * @param program names it there, unless OTEL_SERVICE_NAME has another name
 * @throws {CommandError} for an address that is no URL of HTTP
 */
export function collectorOf(
  input: Input,
  program: 'server' | 'gateway' | 'exporter',
): Collector | undefined {
  const own = input.env('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT').trim()
  const base = input.env('OTEL_EXPORTER_OTLP_ENDPOINT').trim()
  if (own === '' && base === '') return undefined
  const url = own === '' ? `${base.replace(/\/+$/, '')}${TRACES_PATH}` : own
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    const name = own === '' ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
    const wanted = 'expected a URL such as http://collector:4318'
    throw new CommandError(`${name} is "${own || base}", ${wanted}`)
  }
  return { url, service: input.env('OTEL_SERVICE_NAME').trim() || `kubedoh-${program}` }
}
