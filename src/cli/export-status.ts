/**
 * What the exporter tells over HTTP: whether it lives, whether it has published, and its metrics.
 * @module
 */
import { Hono } from 'hono'
import { CommandError } from '../node/output.ts'
import { formatMetrics, parseListenAddress } from '../server/feature-servers.ts'
import { HttpServer } from '../server/http-server.ts'
import type { Metrics } from '../telemetry/metrics.ts'

/**
 * Listens at `HOST:PORT`; '' for nowhere.
 * @throws {CommandError} when the address cannot be had
 */
export async function listenStatus(
  address: string,
  { metrics, isReady }: { readonly metrics: Metrics; readonly isReady: () => boolean },
): Promise<HttpServer | undefined> {
  if (address === '') return undefined
  const app = new Hono()
  app.get('/healthz', (c) => c.text('OK'))
  app.get('/readyz', (c) => (isReady() ? c.text('OK') : c.text('nothing is published yet', 503)))
  app.get('/metrics', (c) => c.text(formatMetrics(metrics)))
  const server = new HttpServer(app)
  const { host, port } = parseListenAddress(address)
  try {
    await server.listen(host, port)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    const hint = 'choose another with --listen, or none with --listen ""'
    throw new CommandError(`Cannot listen on ${address}: ${code}; ${hint}`, { cause: error })
  }
  return server
}
