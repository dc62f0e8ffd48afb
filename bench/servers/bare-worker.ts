/**
 * A Worker as small as one with Hono can be: a route with a fixed body of a hundred bytes. What the
 * gateway costs is measured beside it.
 * @module
 */
import { DurableObject } from 'cloudflare:workers'
import { bareApp } from './bare-app.ts'

/** Bound because the gateway's configuration binds them; never used. */
export class ClusterObject extends DurableObject {}
/** Likewise. */
export class TokenObject extends DurableObject {}

const app = bareApp()

export default {
  fetch(request: Request): Response | Promise<Response> {
    return app.fetch(request)
  },
}
