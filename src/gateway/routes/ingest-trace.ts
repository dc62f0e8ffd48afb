/**
 * Spans of what exporters publish, as children of the exporter's.
 * @module
 */
import { Hono } from 'hono/tiny'
import { parseTraceparent, type Tracer } from '../../dns/telemetry/tracer.ts'

const PLACES: Readonly<Record<string, string>> = {
  '/v1/clusters/:id/publication': 'ingest publication',
  '/v1/clusters/:id/manifest': 'ingest manifest',
  '/v1/clusters/:id/shards/:sha256': 'ingest shard',
}
const STATUS_UNAUTHORIZED = 401
const STATUS_FAILED = 400

/**
 * Creates the app around the routes of exporters. A request without a trace of its sender has no
 * span, nor has one without the token of an exporter: strangers write nothing to the collector.
 */
export function createIngestTrace(tracer: Pick<Tracer, 'begin'>): Hono {
  const app = new Hono()
  for (const [path, name] of Object.entries(PLACES)) {
    app.use(path, async (c, next) => {
      const parent = c.req.method === 'PUT' ? parseTraceparent(c.req.header('traceparent')) : null
      if (!parent) return next()
      const span = tracer.begin(name, { parent, kind: 'server' })
      await next()
      const { status } = c.res
      if (status === STATUS_UNAUTHORIZED) return
      span.end({
        'kubedoh.cluster': c.req.param('id') ?? '',
        'http.response.status_code': String(status),
        ...(status >= STATUS_FAILED && { error: `status ${status}` }),
      })
    })
  }
  return app
}
