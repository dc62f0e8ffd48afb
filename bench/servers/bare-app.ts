/**
 * An app with one route and a fixed body.
 * @module
 */
import { Hono } from 'hono'

const BODY_BYTES = 100

/** Makes the app. */
export function bareApp(): Hono {
  const body = new Uint8Array(BODY_BYTES)
  const headers = { 'content-type': 'application/dns-message', 'content-length': '100' }
  const app = new Hono()
  app.get('/dns-query', () => new Response(body, { headers }))
  app.post('/dns-query', async (c) => {
    await c.req.arrayBuffer()
    return new Response(body, { headers })
  })
  return app
}
