/**
 * The status server of commands that follow something: `/healthz`, `/readyz` and `/metrics`.
 * @module
 */
import { Hono } from 'hono'
import { METRICS_TYPE, type Metrics } from '../../dns/telemetry/metrics.ts'
import { HttpServer } from '../../server/http/http-server.ts'
import { CommandError, listenMessage } from '../../server/node/output.ts'
import { formatMetrics } from '../../server/serve/process-metrics.ts'
import { parseListenAddress } from '../../server/sockets/listen-address.ts'

/** What the server reports. */
type StatusOptions = {
  readonly metrics: Metrics
  readonly isReady: () => boolean
  /** Says why `isReady` is false. */
  readonly notReady?: () => string
  /** Returns what `/readyz` adds to OK. */
  readonly state?: () => string
}

/**
 * Listens on `HOST:PORT`; starts nothing for ''.
 * @throws {CommandError} when it cannot listen there
 */
export async function listenStatus(
  address: string,
  { metrics, isReady, notReady = () => 'nothing published yet', state = () => '' }: StatusOptions,
): Promise<HttpServer | undefined> {
  if (address === '') return undefined
  const app = new Hono()
  app.get('/healthz', (c) => c.text('OK'))
  app.get('/readyz', (c) => (isReady() ? c.text(`OK${state()}`) : c.text(notReady(), 503)))
  app.get('/metrics', async (c) => {
    return c.text(await formatMetrics(metrics), 200, { 'content-type': METRICS_TYPE })
  })
  const server = new HttpServer(app)
  const { host, port } = parseListenAddress(address)
  try {
    await server.listen(host, port)
  } catch (error) {
    const message = listenMessage(error, address)
    throw new CommandError(`${message} (--listen; "" disables the status server)`, { cause: error })
  }
  return server
}
